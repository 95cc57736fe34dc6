import { content } from "../../catalog/content.ts";
import { Refusal } from "../../errors.ts";
import type { ActionInput } from "./action-input.ts";
import type { AgenticService } from "./service-shape.ts";

/** An action, and whose it is. */
export interface OwnedAction {
  readonly service: AgenticService;
  readonly key: string;
  readonly action: object;
  readonly input: ActionInput;
  /** What a text that it answers is. */
  readonly texts: "refusal" | "answer";
}

/** Several arguments only the action itself can be given: a service hands on one. */
function run({ service, key, action, input }: OwnedAction, given: unknown): unknown {
  if (input.spread === undefined) return service.execute(key, given);
  const execute: unknown = Reflect.get(action, "execute");
  if (typeof execute === "function") return Reflect.apply(execute, action, [...input.spread(given)]);
  throw new Refusal("OPERATION_NOT_FOUND", "there is no operation of this name");
}

/**
 * Carries out an action. Nothing is an answer without words, and a text is the service's own, saying why it was not done unless its
 * author knows better; whatever else it answers is data. Rejects with what the service throws.
 */
export async function runAction(owned: OwnedAction, given: unknown): Promise<unknown> {
  const answer = await run(owned, given);
  if (answer === undefined) return content([""]);
  return typeof answer === "string" ? content([answer], { isError: owned.texts === "refusal" }) : answer;
}
