/** Counts the tokens of a text as models of the o200k vocabulary do. Plain JavaScript, since the types of the tokenizer want the lib of browsers. */
export { countTokens } from "gpt-tokenizer/encoding/o200k_base";
