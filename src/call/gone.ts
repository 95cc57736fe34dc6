import type { Denied } from "../catalog/outcome.ts";
import type { CallContext } from "./call-context.ts";

/** What nobody but another tool may call is not there for anybody else. */
export const unknownToAll: Denied = Object.freeze({ kind: "denied", scopes: undefined });

/** What went before its call ran, maybe while its caller was asked, is to them what never was. */
export function goneOutcome(stage: string, { stillShown }: CallContext): Denied | undefined {
  return stage !== "running" && stillShown?.() === false ? unknownToAll : undefined;
}
