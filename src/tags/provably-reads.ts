import type { kEffect } from "./symbols.ts";

/** effect -> whether it is `"read"` and nothing else: `any` and `never`, of which all things hold, are neither. */
type IsRead<TEffect> = [TEffect, "read"] extends ["read", TEffect] ? ("mutates" extends TEffect ? false : true) : false;

/**
 * `true` when a member provably changes nothing as a tool: all kinds but procedures, and procedures that only read. A
 * union answers for every arm, so compare with `[ProvablyReads<…>] extends [true]`.
 */
export type ProvablyReads<TMember> = [TMember] extends [never]
  ? false
  : TMember extends { readonly kind: "cell" | "collection" | "stream" | "event" }
    ? true
    : TMember extends { readonly [kEffect]: infer Known }
      ? IsRead<Known>
      : false;
