import type { ToolOutcome } from "../catalog/outcome.ts";
import type { JsonObject } from "../schema/json.ts";
import { questionsOf } from "./asker.ts";
import type { CallContext } from "./call-context.ts";
import { CallTrail } from "./call-trail.ts";
import { digestOf } from "./digest-of.ts";
import type { Remembered } from "./remembered.ts";

/** A call within a call that is known when all of it is made again. */
export interface NotedCall {
  /** What came of it when it was made before; `undefined` where it is to be run. */
  readonly known: Remembered | undefined;
  /** It was run, and this came of it. */
  ended(outcome: ToolOutcome): void;
}

/**
 * Notes a call by what is called with what, and where. `undefined` where nothing is ever made again: most clients are asked while
 * the call goes on, or not at all.
 */
export function noteCall(call: CallContext, made: { readonly id: string } & JsonObject): NotedCall | undefined {
  const above = call.partOf?.call;
  const questions = questionsOf(call);
  if (above === undefined || questions?.remembers !== true) return undefined;
  const digest = digestOf(made, questions.salt);
  above.trail ??= new CallTrail();
  const place = above.trail.placeOf(digest);
  call.trail = new CallTrail(place);
  questions.made(place, made.id);
  return {
    known: questions.recall(place, digest),
    ended(outcome) {
      questions.remember(place, digest, { outcome, meta: call.meta });
      questions.look();
    },
  };
}
