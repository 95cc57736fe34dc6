import type { ClientAsk } from "../catalog/asking/asking.ts";
import { lackingOf } from "../catalog/own-refusals.ts";
import type { ToolEntry } from "../catalog/entry.ts";
import { readFilled } from "../catalog/asking/create-asks.ts";
import { Refusal, SurfaceError } from "../errors.ts";
import { isJsonObject, type JsonObject } from "../schema/json.ts";
import { shortText } from "../schema/visible-text.ts";
import { checkInput } from "../surface/check-value.ts";
import type { ConfirmLines, ConfirmRule } from "../tags/tool-options.ts";
import { changedAgain, nameWithin } from "./asker.ts";
import type { CallContext } from "./call-context.ts";
import type { Checked } from "./check-again.ts";
import { argumentLines, toShownJson } from "./argument-lines.ts";

/** The answer to a confirmed call whose user cannot be asked. */
export type AskedRule = Exclude<ConfirmRule, "never">;

/** The most that a user is shown of a tool's name, and of the author's message, in UTF-16 units. */
const maxNameLength = 256;
const maxMessageLength = 1024;

/** The most of the author's further lines, and of their length together; each has an equal share. */
const maxDetails = 20;
const maxDetailsLength = 2048;

/** The field of the form into which the user types the word. */
const typedField = "confirm";

/** Writes the input that the handler will get: without arguments that the schema dropped. */
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

function toQuestion(checked: Checked, words?: Words): ClientAsk {
  const { confirmWord } = checked.entry;
  const message = `${toHead(checked.entry, words)}${toLines(checked)}`;
  if (confirmWord === undefined) {
    return { kind: "elicit", params: { message, requestedSchema: { type: "object", properties: {} } } };
  }
  const typed = { type: "string", title: `Type ${confirmWord} to confirm` };
  const requestedSchema = { type: "object", properties: { [typedField]: typed }, required: [typedField] };
  return { kind: "elicit", params: { message: `${message}\nType ${confirmWord} to confirm.`, requestedSchema } };
}

/** Validates the arguments as the owner of the tool does. @throws SurfaceError `VALIDATION_ERROR`. */
async function decode(entry: ToolEntry, args: JsonObject): Promise<Checked> {
  const { owner, origin, preview, input } = entry;
  return {
    entry,
    input: await (owner === "surface" ? preview?.(args) : checkInput(owner.input, input.decode(args), origin)),
  };
}

/** @throws Refusal `DECLINED`. */
function assertAgreed(answer: JsonObject, { confirmWord }: ToolEntry): void {
  const { action, content } = readFilled(answer);
  if (action !== "accept") {
    throw new Refusal("DECLINED", "the user was asked whether this may run, and did not agree", { action });
  }
  const typed = content[typedField];
  // The Unicode form of toConfirmWord().
  if (confirmWord !== undefined && (typeof typed !== "string" || typed.normalize("NFC") !== confirmWord)) {
    throw new Refusal("DECLINED", `the user did not type "${confirmWord}"`, { action });
  }
}

/** Writes the question, with the author's words if the author wrote a function and the client can show them. */
async function writeQuestion(checked: Checked, { caller, root }: CallContext): Promise<ClientAsk> {
  const { entry, input } = checked;
  if (entry.confirmText === undefined || root.asking?.kinds.has("elicit") !== true) return toQuestion(checked);
  return toQuestion(checked, readWords(await entry.confirmText({ input, caller }), entry));
}

/**
 * Asks once, and once more if the question is another one when the user has agreed: by the author's words, or by a default that is
 * another value each time. For a client that answers with another request the question is written again anyway.
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
    if (now.params["message"] === question.params["message"]) return;
    question = now;
  }
  throw changedAgain(key);
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
  return ask(checked, args, call).catch((cause: unknown) => {
    const cannot = cause instanceof Refusal && lackingOf(cause) !== undefined;
    if (rule !== "allow" || !cannot) throw cause;
  });
}
