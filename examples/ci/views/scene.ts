import type { Calls, ViewRules } from "surface-mcp";

import type { Printer } from "../agent/printer.ts";
import type { Reply, Visitor } from "./visitor.ts";

/** Who is there, each by a view of their own. */
export interface Cast {
  readonly reviewer: Visitor;
  readonly executor: Visitor;
  readonly hub: Visitor;
}

/** What the scenes are played on. */
export interface Scene {
  readonly cast: Cast;
  /** Without a view. */
  readonly url: string;
  readonly calls: Calls;
  readonly printer: Printer;
  /** Puts other rules in force, while everybody is connected. */
  readonly replaceRules: (rules: ViewRules) => void;
}

/**
 * Holds what was seen against what was promised.
 *
 * @throws Error which says what was promised.
 */
export function assertPromised(isKept: boolean, promise: string): asserts isKept {
  if (!isKept) throw new Error(`show who sees what: it was promised that ${promise}`);
}

/** The words of a refusal. */
export function wordsOf(reply: Reply): string {
  return reply.ok ? "was answered" : reply.words.replace(/^MCP error -\d+: /, "");
}

/** Some names in one line. */
export function toList(names: readonly string[]): string {
  return names.join(", ");
}
