/** What a client was told about a call. `refused`: the server did not admit it. `failed`: the result is an error. */
export type Outcome = "answered" | "failed" | "lost" | "refused";

/** A call that adds entries. */
export interface Mutation {
  /** No other call of the run has these. */
  readonly ids: readonly string[];
  outcome: Outcome;
  /** Number of entries after the last of its own, if it was answered. */
  count: number | undefined;
  /** Text of the error. */
  told: string;
}

/** A broken promise. */
export interface Violation {
  readonly check:
    | "doubled"
    | "lost write"
    | "refused write"
    | "wrong answer"
    | "stale"
    | "unnotified"
    | "foreign"
    | "probe"
    | "session";
  readonly text: string;
}

function judgeAnswer({ ids, count = 0 }: Mutation, added: number, ledger: readonly string[]): Violation | undefined {
  const [first = ""] = ids;
  if (added < ids.length) {
    return { check: "lost write", text: `${first} was answered; ${added} of ${ids.length} entries exist` };
  }
  const counted = ledger[count - 1];
  if (counted === ids.at(-1)) return undefined;
  return { check: "wrong answer", text: `${first} was answered with the count ${count}, of ${counted}` };
}

function judgeMutation(mutation: Mutation, added: number, ledger: readonly string[]): Violation | undefined {
  const { ids, outcome, told } = mutation;
  if (outcome === "answered") return judgeAnswer(mutation, added, ledger);
  if (outcome !== "refused" || added === 0) return undefined;
  return { check: "refused write", text: `${ids[0]} was refused (${told}); ${added} entries exist` };
}

/** Judges calls by the ids in the ledger, in order. */
export function judgeMutations(mutations: Iterable<Mutation>, ledger: readonly string[]): readonly Violation[] {
  const violations: Violation[] = [];
  const seen = new Set<string>();
  for (const id of ledger) {
    if (seen.has(id)) violations.push({ check: "doubled", text: `${id} was added twice` });
    seen.add(id);
  }
  for (const mutation of mutations) {
    const added = mutation.ids.filter((id) => seen.has(id)).length;
    const violation = judgeMutation(mutation, added, ledger);
    if (violation !== undefined) violations.push(violation);
  }
  return violations;
}

/** Judges the newest value that each watching client has read after a notification. */
export function judgeValues(
  clients: Iterable<{ readonly name: string; readonly value: string | undefined; readonly expected: string }>,
): readonly Violation[] {
  return [...clients]
    .filter(({ value, expected }) => value !== expected)
    .map(({ name, value, expected }) => ({
      check: "stale",
      text: `${name} knows ${value}, and the value is ${expected}`,
    }));
}
