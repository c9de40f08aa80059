export { default, OpenAI, APIError, APIUserAbortError, APIConnectionError } from 'openai';
