import { Refusal } from "../errors.ts";
import type { EntryCall } from "./entry.ts";

/** What is made for nobody's call can ask nobody. */
export const cannotAsk: Pick<EntryCall, "ask" | "onRoots" | "addMeta"> = Object.freeze({
  ask: () => Promise.reject(new Refusal("CLIENT_CANNOT", "there is no client to be asked")),
  onRoots: () => () => {},
  addMeta: () => {},
});
