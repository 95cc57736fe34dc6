/**
 * A type without values that carries a sentence. It stands in place of `never` in parameters, so that the compiler's message says
 * what is wrong.
 */
export interface TypeProblem<TSentence extends string> {
  readonly "surface-mcp says": TSentence;
}

/** Record -> its keys. For a union, the keys of all arms, where `keyof` has only the keys that they share. */
export type KeysOfUnion<TRecord> = TRecord extends unknown ? keyof TRecord : never;

/** `unknown` (no objection) when `TKeys` is empty, else a problem that names the keys. */
export type RefuseKeys<TKeys, TBefore extends string, TAfter extends string> = [TKeys] extends [never]
  ? unknown
  : TypeProblem<`${TBefore}"${TKeys & string}"${TAfter}`>;
