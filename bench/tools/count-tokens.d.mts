/** How many tokens of the o200k vocabulary a text is. */
export declare function countTokens(text: string): number;
