/** What ran and should not have, and the other way round. */
export function differences(what: string, ran: ReadonlySet<string>, expected: ReadonlySet<string>): readonly string[] {
  const extra = [...ran].filter((each) => !expected.has(each));
  const missing = [...expected].filter((each) => !ran.has(each));
  return [
    ...extra.map((each) => `${what}: ran "${each}", which is not to be reached`),
    ...missing.map((each) => `${what}: did not run "${each}", which is to be reached`),
  ];
}
