import type { ProgressReport } from "../../catalog/entry.ts";
import type { JsonObject } from "../../schema/json.ts";
import { anyCodec } from "../../schema/wire-codec.ts";
import { modelAnswered, type AgentStep } from "./agent-step.ts";

/** Under which name programs find a step. */
const stepKey = "surface-mcp/step";

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value) && value >= 0;
}

/** How many tokens the call of a model has taken, where its step says so. */
export function tokensOf({ kind, tokens }: AgentStep): number | undefined {
  return kind === modelAnswered && isCount(tokens) ? tokens : undefined;
}

function wordsOf({ message, tool, model, tokens, latencyMs }: AgentStep): string {
  if (typeof message === "string" && message !== "") return message;
  const what = [tool, model].filter((word) => typeof word === "string" && word !== "");
  const taken = [
    isCount(tokens) ? [`${tokens} tokens`] : [],
    isCount(latencyMs) ? [`${Math.round(latencyMs)} ms`] : [],
  ];
  return [...what, ...taken.flat()].join(", ");
}

/** What can be said of a step for programs: what of it is no JSON is left out. */
function detailsOf(step: AgentStep): JsonObject {
  const details: JsonObject = {};
  for (const [key, value] of Object.entries(step)) {
    if (value === undefined || (key === "tokens" && !isCount(value))) continue;
    try {
      Object.defineProperty(details, key, { value: anyCodec.encode(value), enumerable: true });
    } catch {
      // A cycle, a function, or what throws when it is looked at.
    }
  }
  return details;
}

/** A step as a report of progress. Where nobody asked for progress nobody reads it, and nothing of it is made. */
export class StepReport implements ProgressReport {
  readonly progress: number;
  readonly #step: AgentStep;

  constructor(progress: number, step: AgentStep) {
    this.progress = progress;
    this.#step = step;
  }

  get message(): string {
    const words = wordsOf(this.#step);
    return words === "" ? this.#step.kind : `${this.#step.kind}: ${words}`;
  }

  get meta(): JsonObject {
    return { [stepKey]: detailsOf(this.#step) };
  }
}
