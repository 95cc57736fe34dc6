import { Refusal } from "../errors.ts";
import type { JsonObject } from "../schema/json.ts";
import type { AskKind } from "./asking.ts";

/** What a client has to say that it can do, to be asked something. */
const capabilities: Readonly<Record<AskKind, JsonObject>> = Object.freeze({
  elicit: Object.freeze({ elicitation: Object.freeze({ form: Object.freeze({}) }) }),
  sample: Object.freeze({ sampling: {} }),
  roots: Object.freeze({ roots: {} }),
});

/** The same in words. */
const words: Readonly<Record<string, string>> = Object.freeze({ elicitation: "elicitation by form" });

/** What it is about clients that their calls are refused for, where it was us who refused. An author may use the same code. */
const lacking = new WeakMap<Refusal, JsonObject>();

/** What a handler is told that asks a client which lacks these capabilities. */
export function toClientCannot(requiredCapabilities: JsonObject): Refusal {
  const takes = Object.keys(requiredCapabilities).map((name) => words[name] ?? name);
  const message = `the client of this call cannot be asked what it takes: ${takes.join(", ")}`;
  const refusal = new Refusal("CLIENT_CANNOT", message, { requiredCapabilities });
  lacking.set(refusal, requiredCapabilities);
  return refusal;
}

/** The same, by the kind of question. */
export function cannotBeAsked(kind: AskKind): Refusal {
  return toClientCannot(capabilities[kind]);
}

/** Which capabilities its client lacks, where that is why a call was refused; `undefined` for any other refusal. */
export function lackingOf(refusal: Refusal): JsonObject | undefined {
  return lacking.get(refusal);
}
