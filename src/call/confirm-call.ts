import type { InputRequest } from "../catalog/asking/asking.ts";
import { ownFactsOf } from "../catalog/own-refusals.ts";
import type { ToolEntry } from "../catalog/entry.ts";
import { readFilled } from "../catalog/asking/create-asks.ts";
import { Refusal, SurfaceError } from "../errors.ts";
import { isJsonObject, type JsonObject } from "../schema/json.ts";
import { truncateMiddle } from "../schema/visible-text.ts";
import { checkInput } from "../surface/check-value.ts";
import type { ConfirmLines, ConfirmRule } from "../tags/tool-options.ts";
import { changedAgain, digestWithin, type ClientPort } from "./asker.ts";
import type { CallContext } from "./call-context.ts";
import type { Checked } from "./check-again.ts";
import { argumentLines, toShownJson } from "./argument-lines.ts";

/** The rule for a tool with confirmation if the user cannot be asked. */
export type AskedRule = Exclude<ConfirmRule, "never">;

/** A call to confirm. */
export interface Confirmation extends Checked {
  readonly rule: AskedRule;
  /** Asks a person who decides instead of the client, which cannot show the confirmation. */
  readonly approver?: ClientPort | undefined;
}

/** The maximum length of a tool's name and of the author's message in the question, in UTF-16 units. */
const maxNameLength = 256;
const maxMessageLength = 1024;

/** The maximum number of the author's further lines, and of their total length. Each line has an equal share. */
const maxDetails = 20;
const maxDetailsLength = 2048;

/** The field of the form into which the user types the word. */
export const typedField = "confirm";

/** Writes the input of the handler, without arguments that the schema dropped. */
function toLines({ entry, input }: Checked): string {
  const { root, json } = entry.input;
  if (input === undefined) return "";
  const shown = toShownJson(root === "" ? input : { [root]: input });
  return argumentLines(isJsonObject(shown) ? shown : { value: shown }, json);
}

/** The author's lines above the arguments. */
type AuthorLines = readonly [message: string, ...details: string[]];

function isText(value: unknown): value is string {
  return typeof value === "string";
}

/** Reads the result of the author's `confirm` function. @throws SurfaceError `INTERNAL`. */
function readLines(result: unknown, { origin }: ToolEntry): AuthorLines {
  // Every field is checked below.
  const { message, details = [] } = Object(isText(result) ? { message: result } : result) as Partial<ConfirmLines>;
  const listed: unknown = isText(details) ? [details] : details;
  const lines: readonly unknown[] = Array.isArray(listed) ? listed : [undefined];
  if (isText(message) && message.trim() !== "" && lines.every(isText)) return [message, ...lines];
  throw new SurfaceError(
    "INTERNAL",
    `Cannot confirm ${origin}: the function of "confirm" must return a text or { message: text, details?: texts }`,
  );
}

/** Writes the lines above the arguments. The author's details begin with a dash and have no line break, so none looks like an argument. */
function toHead({ title, name }: ToolEntry, author: AuthorLines | undefined): string {
  const tool = truncateMiddle(JSON.stringify(title ?? name), maxNameLength);
  if (author === undefined) return `Run ${tool}?`;
  const [message, ...details] = author;
  const shown = details.slice(0, maxDetails);
  const maxLength = Math.floor(maxDetailsLength / Math.max(1, shown.length));
  const lines = [
    truncateMiddle(message, maxMessageLength),
    ...shown.map((line) => `- ${truncateMiddle(line, maxLength)}`),
  ];
  if (details.length > maxDetails) lines.push(`- … and ${details.length - maxDetails} more lines`);
  return [...lines, `Tool: ${tool}`].join("\n");
}

function toQuestion(checked: Checked, author?: AuthorLines): InputRequest {
  const { confirmWord } = checked.entry;
  const message = `${toHead(checked.entry, author)}${toLines(checked)}`;
  if (confirmWord === undefined) {
    return { kind: "elicit", params: { message, requestedSchema: { type: "object", properties: {} } } };
  }
  const typed = { type: "string", title: `Type ${confirmWord} to confirm` };
  const requestedSchema = { type: "object", properties: { [typedField]: typed }, required: [typedField] };
  return { kind: "elicit", params: { message: `${message}\nType ${confirmWord} to confirm.`, requestedSchema } };
}

/** Validates the arguments as the live surface or the tool does. @throws SurfaceError `VALIDATION_ERROR`. */
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
    throw new Refusal("DECLINED", "the user was asked to confirm this call and did not agree; it has not run", {
      action,
    });
  }
  const typed = content[typedField];
  // The Unicode form of toConfirmWord().
  if (confirmWord !== undefined && (typeof typed !== "string" || typed.normalize("NFC") !== confirmWord)) {
    throw new Refusal("DECLINED", `the user was asked to type "${confirmWord}" and did not; it has not run`, {
      action,
    });
  }
}

/** Writes the question, with the lines of the author's `confirm` function if there is one and the port can show a form. */
async function writeQuestion(checked: Checked, { caller }: CallContext, port?: ClientPort): Promise<InputRequest> {
  const { entry, input } = checked;
  if (entry.confirmText === undefined || port?.kinds.has("elicit") !== true) return toQuestion(checked);
  return toQuestion(checked, readLines(await entry.confirmText({ input, caller }), entry));
}

/**
 * Asks the user, and asks again if the question has changed meanwhile, by the author's lines or by a default that is new each time. For
 * a client that answers with another request, the retry writes the question again.
 */
async function ask({ approver, ...checked }: Confirmation, args: JsonObject, call: CallContext): Promise<void> {
  const { entry } = checked;
  const port = approver ?? call.root.asking;
  // Consent is for these arguments only. Keys of authors have no dot.
  const key = `.confirm.${digestWithin(call, { id: entry.id, args }).slice(0, 16)}`;
  // `checked` is what runs, unless a live surface validates the arguments.
  let question = await writeQuestion(entry.owner === "surface" ? await decode(entry, args) : checked, call, port);
  for (const again of ["", ".again"]) {
    assertAgreed(await call.ask(`${key}${again}`, question, port), entry);
    const isRetried = port?.push === undefined;
    const now = isRetried ? question : await writeQuestion(await decode(entry, args), call, port);
    if (now.params["message"] === question.params["message"]) return;
    question = now;
  }
  throw changedAgain(key);
}

/**
 * Asks the user whether a tool may run with these arguments. Rejects with a `Refusal` `DECLINED`, with `CLIENT_CANNOT` unless the rule
 * is `allow`, and as validation and questions do.
 */
export function confirmCall(confirmation: Confirmation, args: JsonObject, call: CallContext): Promise<void> {
  return ask(confirmation, args, call).catch((cause: unknown) => {
    const cannot = cause instanceof Refusal && ownFactsOf(cause).requiredCapabilities !== undefined;
    if (confirmation.rule !== "allow" || !cannot) throw cause;
  });
}
