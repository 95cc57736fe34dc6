import type { ClientAsk } from "../catalog/asking.ts";
import { operationNotFound } from "../catalog/cannot-nest.ts";
import { lackingOf } from "../catalog/client-cannot.ts";
import type { ToolEntry } from "../catalog/entry.ts";
import { readFilled } from "../catalog/read-ask-answers.ts";
import { Refusal, SurfaceError } from "../errors.ts";
import { isJsonObject, type JsonObject } from "../schema/json.ts";
import { shortText } from "../schema/visible-text.ts";
import { checkInput } from "../surface/check-value.ts";
import type { ConfirmLines } from "../tags/confirm-text.ts";
import type { ConfirmRule } from "../tags/tool-options.ts";
import { changedAgain, nameWithin } from "./asker.ts";
import type { CallContext } from "./call-context.ts";
import type { Checked } from "./check-again.ts";
import { argumentLines, toShownJson } from "./argument-lines.ts";

/** What becomes of calls whose users are asked, where they cannot be. */
export type AskedRule = Exclude<ConfirmRule, "never">;

/** How much of the name of a tool a user is shown, in UTF-16 units. */
const maxNameLength = 256;

/** The length of the author's message that a user is shown, in UTF-16 units. */
const maxMessageLength = 1024;

/** The author's further lines that a user is shown, and their length together; each has an equal share. */
const maxDetails = 20;
const maxDetailsLength = 2048;

/** The field of the form into which the user types the word. */
const typedField = "confirm";

/** Writes the input that the handler will get. An argument that the schema dropped is no part of it. */
function toLines({ entry, input }: Checked): string {
  const { root, json } = entry.input;
  if (input === undefined) return "";
  const shown = toShownJson(root === "" ? input : { [root]: input });
  return argumentLines(isJsonObject(shown) ? shown : { value: shown }, json);
}

/** The author's words above a question, one text for each line. */
type Words = readonly [message: string, ...details: string[]];

function isText(value: unknown): value is string {
  return typeof value === "string";
}

/** Reads what a function of `confirm` returned. @throws SurfaceError `INTERNAL`. */
function readWords(said: unknown, { origin }: ToolEntry): Words {
  // Every field is checked below.
  const { message, details = [] } = Object(isText(said) ? { message: said } : said) as Partial<ConfirmLines>;
  const listed: unknown = isText(details) ? [details] : details;
  const lines: readonly unknown[] = Array.isArray(listed) ? listed : [undefined];
  if (isText(message) && message.trim() !== "" && lines.every(isText)) return [message, ...lines];
  throw new SurfaceError(
    "INTERNAL",
    `Confirming ${origin}: the function of "confirm" must return a text or { message: text, details?: texts }`,
  );
}

/** Each line of the author's begins with a dash, and holds no line break: it cannot look like an argument. */
function toHead({ title, name }: ToolEntry, words: Words | undefined): string {
  const tool = shortText(JSON.stringify(title ?? name), maxNameLength);
  if (words === undefined) return `Run ${tool}?`;
  const [message, ...details] = words;
  const shown = details.slice(0, maxDetails);
  const maxLength = Math.floor(maxDetailsLength / Math.max(1, shown.length));
  const lines = [shortText(message, maxMessageLength), ...shown.map((line) => `- ${shortText(line, maxLength)}`)];
  if (details.length > maxDetails) lines.push(`- … and ${details.length - maxDetails} more lines`);
  return [...lines, `Tool: ${tool}`].join("\n");
}

function toQuestion(checked: Checked, words: Words | undefined): ClientAsk {
  const { confirmWord } = checked.entry;
  const message = `${toHead(checked.entry, words)}${toLines(checked)}`;
  if (confirmWord === undefined) {
    return { kind: "elicit", params: { message, requestedSchema: { type: "object", properties: {} } } };
  }
  const typed = { type: "string", title: `Type ${confirmWord} to confirm` };
  const requestedSchema = { type: "object", properties: { [typedField]: typed }, required: [typedField] };
  return { kind: "elicit", params: { message: `${message}\nType ${confirmWord} to confirm.`, requestedSchema } };
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

/** A user may take their time, and what they are shown may change. */
function assertStillShown({ stillShown }: CallContext): void {
  if (stillShown?.() === false) throw new Refusal(operationNotFound.code, operationNotFound.message);
}

/** Validates the arguments as the owner of the tool does. @throws SurfaceError `VALIDATION_ERROR`. */
async function decode(entry: ToolEntry, args: JsonObject): Promise<Checked> {
  const { owner, origin } = entry;
  if (owner === "surface") return { entry, input: await entry.preview?.(args) };
  return { entry, input: await checkInput(owner.input, entry.input.decode(args), origin) };
}

/** Returns a text in the Unicode form of {@link toConfirmWord}. */
function toTyped(value: unknown): unknown {
  return typeof value === "string" ? value.normalize("NFC") : value;
}

/** @throws Refusal `DECLINED`. */
function assertAgreed(answer: JsonObject, { confirmWord }: ToolEntry): void {
  const { action, content } = readFilled(answer);
  if (action !== "accept") {
    throw new Refusal("DECLINED", "the user was asked whether this may run, and did not agree", { action });
  }
  if (confirmWord !== undefined && toTyped(content[typedField]) !== confirmWord) {
    throw new Refusal("DECLINED", `the user did not type "${confirmWord}"`, { action });
  }
}

/** Returns the author's words, if the author wrote a function and the client can show them. */
async function wordsOf({ entry, input }: Checked, call: CallContext): Promise<Words | undefined> {
  const { asking } = call.root;
  if (entry.confirmText === undefined || asking?.kinds.has("elicit") !== true) return undefined;
  return readWords(await entry.confirmText({ input, caller: call.caller }), entry);
}

async function writeQuestion(checked: Checked, call: CallContext): Promise<ClientAsk> {
  return toQuestion(checked, await wordsOf(checked, call));
}

/**
 * Asks once, and once more if the question is another one when the user has agreed: by the author's words, or by a default that is
 * another value each time. A client that answers with another request needs no such look: the question is written again for that
 * request, and its answer counts for the same question only.
 */
async function ask(checked: Checked, args: JsonObject, call: CallContext): Promise<void> {
  const { entry } = checked;
  // What agrees to these arguments agrees to no others; no author's key has a dot.
  const key = `.confirm.${nameWithin(call, { id: entry.id, args }).slice(0, 16)}`;
  // What the invoker has validated is what runs.
  let question = await writeQuestion(entry.owner === "surface" ? await decode(entry, args) : checked, call);
  for (const again of ["", ".again"]) {
    assertAgreed(await call.ask(`${key}${again}`, question), entry);
    const isRetried = call.root.asking?.push === undefined;
    const now = isRetried ? question : await writeQuestion(await decode(entry, args), call);
    if (now.params["message"] === question.params["message"]) return assertStillShown(call);
    question = now;
  }
  throw changedAgain(key);
}

function unlessItCannot(cause: unknown): void {
  if (!(cause instanceof Refusal) || lackingOf(cause) === undefined) throw cause;
}

/**
 * Asks the user whether a tool may run with these arguments. Rejects with a `Refusal`: `DECLINED`; `CLIENT_CANNOT`, unless the rule
 * says that it runs then; and as validating and asking do.
 */
export function confirmCall(
  { rule, ...checked }: Checked & { readonly rule: AskedRule },
  args: JsonObject,
  call: CallContext,
): Promise<void> {
  const asked = ask(checked, args, call);
  return rule === "allow" ? asked.catch(unlessItCannot) : asked;
}
