/** The members of an object, those that may be undefined as optional ones. */
export type Defined<TMembers> = {
  [TKey in keyof TMembers as undefined extends TMembers[TKey] ? never : TKey]: TMembers[TKey];
} & {
  [TKey in keyof TMembers as undefined extends TMembers[TKey] ? TKey : never]?: Exclude<TMembers[TKey], undefined>;
};

/** Returns a copy without the members that are undefined. */
export function toDefined<TMembers extends object>(members: TMembers): Defined<TMembers> {
  // The filter makes the difference between the two types.
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Defined<TMembers>;
}
