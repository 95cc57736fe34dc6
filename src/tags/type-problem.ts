/**
 * A type that no value has, carrying a sentence. Functions of this package ask for it where they would otherwise ask
 * for `never`, so that the compiler's message says what is wrong.
 */
export interface TypeProblem<TSentence extends string> {
  readonly "surface-mcp says": TSentence;
}

/** `unknown` (no objection) when `TKeys` is empty, else a problem that names the keys. */
export type RefuseKeys<TKeys, TBefore extends string, TAfter extends string> = [TKeys] extends [never]
  ? unknown
  : TypeProblem<`${TBefore}"${TKeys & string}"${TAfter}`>;
