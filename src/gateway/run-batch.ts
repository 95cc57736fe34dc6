import { operationNotFound } from "../catalog/cannot-nest.ts";
import type { EntryCall } from "../catalog/entry.ts";
import type { Refused, ToolOutcome } from "../catalog/outcome.ts";
import type { JsonObject, JsonValue } from "../schema/json.ts";
import { BatchProgress } from "./batch-progress.ts";
import { toBatchResult, type BatchResult } from "./batch-result.ts";
import { findOperation } from "./find-operation.ts";
import type { GatewayParts } from "./gateway-parts.ts";

/** How long all calls of a batch may take together, in milliseconds. */
export const batchMs = 60_000;

const mostAtOnce = 8;

/** One call of a batch. */
export interface BatchCall {
  readonly tool: string;
  readonly input: JsonObject;
}

/** What a batch is asked to do. */
export interface BatchRequest {
  readonly calls: readonly BatchCall[];
  /** Whether they need not wait for one another. */
  readonly isParallel: boolean;
}

/** A call that was not begun. */
function unbegun(code: "ABORTED" | "TIMEOUT", message: string, details?: JsonValue): Refused {
  return { kind: "refused", code, message, issues: [], details, correlationId: undefined };
}

const aborted = unbegun("ABORTED", "the batch was cancelled before this was begun");

/** The calls of one batch, under way. */
class Batch {
  readonly #parts: GatewayParts;
  readonly #call: EntryCall;
  readonly #calls: readonly BatchCall[];
  readonly #progress: BatchProgress;
  readonly #deadlineAt = performance.now() + batchMs;
  /** The same, as callers are told. */
  readonly #deadline = Date.now() + batchMs;
  readonly #results: BatchResult[] = [];
  #next = 0;

  constructor(parts: GatewayParts, call: EntryCall, calls: readonly BatchCall[]) {
    this.#parts = parts;
    this.#call = call;
    this.#calls = calls;
    this.#progress = new BatchProgress(call, calls.length);
  }

  async run(atOnce: number): Promise<readonly BatchResult[]> {
    await Promise.all(Array.from({ length: Math.min(atOnce, this.#calls.length) }, () => this.#takeTurns()));
    return this.#results;
  }

  /** Runs one after another of those that nobody has begun. */
  async #takeTurns(): Promise<void> {
    for (;;) {
      const index = this.#next++;
      const one = this.#calls[index];
      if (one === undefined) return;
      this.#results[index] = toBatchResult(await this.#one(one, index));
      this.#progress.finish(index, one.tool);
    }
  }

  /** Looked up when its turn has come: a call before it may have brought it. */
  async #one({ tool, input }: BatchCall, index: number): Promise<ToolOutcome> {
    if (this.#call.signal.aborted) return aborted;
    if (performance.now() >= this.#deadlineAt) {
      const deadline = { deadline: this.#deadline };
      return unbegun("TIMEOUT", "the deadline of the batch passed before this was begun", deadline);
    }
    const entry = findOperation(this.#parts, tool, this.#call.caller);
    if (entry === undefined) return operationNotFound;
    return this.#call.nest({
      target: { entry },
      args: input,
      as: "caller",
      deadlineAt: this.#deadlineAt,
      onProgress: (report) => this.#progress.report(index, report),
    });
  }
}

/**
 * Runs calls as parts of one call, under its caller's authority, with one deadline for all: one after another, or at most eight at
 * once. The results stand where the calls stood, however each of them ends. Never rejects.
 */
export function runBatch(
  parts: GatewayParts,
  { calls, isParallel }: BatchRequest,
  call: EntryCall,
): Promise<readonly BatchResult[]> {
  return new Batch(parts, call, calls).run(isParallel ? mostAtOnce : 1);
}
