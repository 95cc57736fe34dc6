import { Refusal } from "../errors.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../schema/json.ts";
import type { Root, Sampled } from "./asking.ts";

/** What a user did with a form. */
export interface Filled {
  readonly action: "accept" | "decline" | "cancel";
  /** What they filled in; empty where that is nothing. */
  readonly content: JsonObject;
}

function fail(what: string): Refusal {
  return new Refusal("ASK_FAILED", `the client's answer is ${what}`);
}

/** What a client says of a form. @throws Refusal `ASK_FAILED` for what is no such answer. */
export function readFilled({ action, content = {} }: JsonObject): Filled {
  if (action === "decline" || action === "cancel") return { action, content: {} };
  if (action !== "accept") throw fail("none to a form");
  if (content !== null && !isJsonObject(content)) throw fail("a form without fields");
  return { action, content: content ?? {} };
}

function toBlocks(content: JsonValue | undefined): readonly JsonObject[] {
  const blocks = Array.isArray(content) ? content : [content];
  return blocks.map((block) => {
    if (isJsonObject(block) && typeof block["type"] === "string") return block;
    throw fail("no message of a model");
  });
}

/** What a client's model has written. @throws Refusal `ASK_FAILED` for what is no such answer. */
export function readSampled({ role, content, model, stopReason }: JsonObject): Sampled {
  if ((role !== "user" && role !== "assistant") || typeof model !== "string") throw fail("no message of a model");
  const blocks = toBlocks(content);
  const texts = blocks.flatMap(({ type, text }) => (type === "text" && typeof text === "string" ? [text] : []));
  return {
    role,
    text: texts.join(""),
    content: blocks,
    model,
    ...(typeof stopReason === "string" ? { stopReason } : {}),
  };
}

function readRoot(root: JsonValue): Root {
  if (!isJsonObject(root) || typeof root["uri"] !== "string") throw fail("no list of roots");
  const { uri, name } = root;
  return { uri, ...(typeof name === "string" ? { name } : {}) };
}

/** Where a client's user works. @throws Refusal `ASK_FAILED` for what is no such answer. */
export function readRoots({ roots }: JsonObject): readonly Root[] {
  if (!Array.isArray(roots)) throw fail("no list of roots");
  return roots.map(readRoot);
}
