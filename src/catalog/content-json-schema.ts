import { deepFreeze } from "../schema/json.ts";
import type { JsonObject } from "../schema/json.ts";

const text = { type: "string" };
const mimeType = { type: "string", minLength: 3, maxLength: 255 };
const uri = { type: "string", minLength: 3, maxLength: 8192 };
const base64 = { type: "string", contentEncoding: "base64" };

const annotations = {
  type: "object",
  properties: {
    audience: { type: "array", items: { type: "string", enum: ["user", "assistant"] } },
    priority: { type: "number", minimum: 0, maximum: 1 },
    lastModified: { type: "string", maxLength: 64 },
  },
  additionalProperties: false,
};

const icon = {
  type: "object",
  properties: {
    src: { type: "string", maxLength: 65_536 },
    mimeType,
    sizes: { type: "array", items: { type: "string", maxLength: 16 } },
    theme: { type: "string", enum: ["light", "dark"] },
  },
  required: ["src"],
  additionalProperties: false,
};

/** An object with these fields and no others; those with a `?` may be left out. */
function closed(fields: Readonly<Record<string, JsonObject>>): JsonObject {
  const entries = Object.entries(fields);
  return {
    type: "object",
    properties: Object.fromEntries(entries.map(([name, schema]) => [name.replace("?", ""), schema])),
    required: entries.flatMap(([name]) => (name.endsWith("?") ? [] : [name])),
    additionalProperties: false,
  };
}

function block(type: string, fields: Readonly<Record<string, JsonObject>>): JsonObject {
  const meta = { type: "object", additionalProperties: {} };
  return closed({ type: { const: type }, ...fields, "annotations?": annotations, "_meta?": meta });
}

function media(type: string): JsonObject {
  return block(type, { data: base64, mimeType });
}

function makeSchema(): JsonObject {
  const link = { uri, name: text, "title?": text, "description?": text, "mimeType?": mimeType };
  const blocks = [
    block("text", { text }),
    media("image"),
    media("audio"),
    block("resource", { resource: closed({ uri, "mimeType?": mimeType, text }) }),
    block("resource", { resource: closed({ uri, "mimeType?": mimeType, blob: base64 }) }),
    block("resource_link", {
      ...link,
      "size?": { type: "integer", minimum: 0 },
      "icons?": { type: "array", maxItems: 16, items: icon },
    }),
  ];
  return deepFreeze(
    closed({
      blocks: { type: "array", maxItems: 1000, items: { anyOf: blocks } },
      "structured?": {},
      "isError?": { type: "boolean" },
    }),
  );
}

let made: JsonObject | undefined;

/** The JSON Schema of a rich answer as JSON: what travels, and what two ends have to agree on. Made once, when asked for. */
export function contentJsonSchema(): JsonObject {
  return (made ??= makeSchema());
}
