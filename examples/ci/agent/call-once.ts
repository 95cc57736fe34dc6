import type { Answer } from "./mcp-session.ts";

/** The refusal of a call that was cut off: it may have taken effect, and it may not. */
const UNKNOWN = "OUTCOME_UNKNOWN";
/** How often a call is made in all when each time it turns out that it took no effect. */
const MOST_CALLS = 3;

/** A call that changes something, and how to find out afterwards whether it has. */
export interface Mutation<TValue> {
  readonly call: () => Promise<Answer<TValue>>;
  /** Told that the outcome is unknown, before the state is read. */
  readonly onUnknown: (refusal: string) => void;
  /** Reads the state: what the call would have answered, where it took effect. */
  readonly effect: () => Promise<TValue | undefined>;
}

/**
 * Calls what must not happen twice. When its outcome is unknown, the state is read first, and the call is made again only
 * where that shows that nothing has happened.
 */
export async function callOnce<TValue>({ call, onUnknown, effect }: Mutation<TValue>): Promise<Answer<TValue>> {
  for (let calls = 1; ; calls += 1) {
    const answer = await call();
    if (answer.ok || answer.code !== UNKNOWN) return answer;
    onUnknown(answer.refusal);
    const value = await effect();
    if (value !== undefined) return { ok: true, value };
    if (calls >= MOST_CALLS) return answer;
  }
}
