export { default, Anthropic, APIError, APIUserAbortError, APIConnectionError } from '@anthropic-ai/sdk';
