export { Marked, Lexer, Parser, Renderer } from 'marked';
export type { Token, Tokens } from 'marked';
