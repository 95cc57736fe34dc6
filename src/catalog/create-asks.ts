import { Refusal } from "../errors.ts";
import type { Asks } from "./asking.ts";
import type { EntryCall } from "./entry.ts";

/** What handlers ask the client of their call by. */
export function createAsks(call: EntryCall): Asks {
  const cannot = (): Promise<never> => Promise.reject(new Refusal("CLIENT_CANNOT", "the client cannot be asked this"));
  return { elicit: cannot, sample: cannot, roots: cannot, onRoots: (changed) => call.onRoots(changed) };
}
