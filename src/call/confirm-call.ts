import type { ClientAsk } from "../catalog/asking.ts";
import { lackingOf } from "../catalog/client-cannot.ts";
import type { ToolEntry } from "../catalog/entry.ts";
import { readFilled } from "../catalog/read-ask-answers.ts";
import { Refusal } from "../errors.ts";
import { clipText } from "../schema/clip-text.ts";
import type { JsonObject } from "../schema/json.ts";
import type { ConfirmRule } from "../tags/tool-options.ts";
import type { CallContext } from "./call-context.ts";
import { digestOf } from "./digest-of.ts";

/** What becomes of calls whose users are asked, where they cannot be. */
export type AskedRule = Exclude<ConfirmRule, "never">;

/** How much of the arguments a user is shown, in bytes. */
const maxShownBytes = 2048;

// What is not seen, or turns round what stands beside it: a user would agree to something else than they read.
const unseen = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{DI}]/gu;

function toEscape(character: string): string {
  return `\\u{${character.codePointAt(0)?.toString(16)}}`;
}

function toShown(args: JsonObject): string {
  const text = JSON.stringify(args).replace(unseen, toEscape);
  const shown = clipText(text, maxShownBytes);
  return shown === text ? text : `${shown} (the beginning of ${text.length} characters)`;
}

function toQuestion({ title, name }: ToolEntry, args: JsonObject): ClientAsk {
  const message = `Run ${JSON.stringify(title ?? name)} with ${toShown(args)}?`;
  return { kind: "elicit", params: { message, requestedSchema: { type: "object", properties: {} } } };
}

/**
 * Whether a user is asked before a tool runs; `undefined`: they are not.
 *
 * @param others - what holds for tools that may change something and say nothing of it themselves.
 */
export function confirmRuleOf(entry: ToolEntry, others: ConfirmRule | undefined): AskedRule | undefined {
  // What stands for others changes nothing itself: each of those is asked about.
  const { confirm = entry.hints.readOnlyHint || entry.isUncounted === true ? undefined : others } = entry;
  return confirm === "never" ? undefined : confirm;
}

async function ask(entry: ToolEntry, args: JsonObject, call: CallContext): Promise<void> {
  // What agrees to these arguments agrees to no others; no author's key has a dot.
  const key = `.confirm.${digestOf({ id: entry.id, args }).slice(0, 16)}`;
  const { action } = readFilled(await call.ask(key, toQuestion(entry, args)));
  if (action === "accept") return;
  throw new Refusal("DECLINED", "the user was asked whether this may run, and did not agree", { action });
}

function unlessItCannot(cause: unknown): void {
  if (!(cause instanceof Refusal) || lackingOf(cause) === undefined) throw cause;
}

/**
 * Asks the user whether a tool may run with these arguments. Rejects with a `Refusal`: `DECLINED`; `CLIENT_CANNOT`, unless the rule
 * says that it runs then; and as asking does.
 */
export function confirmCall(
  { entry, rule }: { readonly entry: ToolEntry; readonly rule: AskedRule },
  args: JsonObject,
  call: CallContext,
): Promise<void> {
  const asked = ask(entry, args, call);
  return rule === "allow" ? asked.catch(unlessItCannot) : asked;
}
