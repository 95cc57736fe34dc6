import type { JsonObject } from "../../src/schema/json.ts";
import { deniedView, maxPackets, name, packet, rules, shownView } from "../../src/views/view-rules-schema.ts";

/** Parts of the document that others refer to, by name. */
const parts: Readonly<Record<string, unknown>> = {
  name,
  packet,
  rules,
  patterns: shownView.properties?.["allow"],
  namedView: { anyOf: [shownView, deniedView] },
};

/** Copies a schema as JSON, with a reference for each named part but the one that it is the copy of. */
function toJson(schema: unknown, self?: unknown): JsonObject {
  const names = new Map(Object.entries(parts).map(([key, part]) => [part, key]));
  const text = JSON.stringify(schema, (_key, value: unknown) => {
    const named = value === self ? undefined : names.get(value);
    return named === undefined ? value : { $ref: `#/$defs/${named}` };
  });
  // The schema is JSON, and an object.
  return JSON.parse(text) as JsonObject;
}

/** `docs/schemas/view-rules.schema.json`, made of the schemas that rules are read by. */
export const rulesDocument: JsonObject = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  $id: "https://unpkg.com/surface-mcp/docs/schemas/view-rules.schema.json",
  title: "Rules about views",
  description:
    "The files that surface-mcp reads by viewRulesFile(): a packet, a list of packets, a list of rules, or views by name.",
  anyOf: [
    { $ref: "#/$defs/packet" },
    { type: "array", items: { $ref: "#/$defs/packet" }, minItems: 1, maxItems: maxPackets },
    { $ref: "#/$defs/rules" },
    { $ref: "#/$defs/namedViews" },
  ],
  $defs: {
    ...Object.fromEntries(Object.entries(parts).map(([key, part]) => [key, toJson(part, part)])),
    namedViews: {
      description: "Views by name. Each is a rule for the callers that ask for it.",
      type: "object",
      properties: { $schema: { anyOf: [{ type: "string" }, { $ref: "#/$defs/namedView" }] } },
      propertyNames: { $ref: "#/$defs/name" },
      additionalProperties: { $ref: "#/$defs/namedView" },
      anyOf: [
        { minProperties: 2 },
        { minProperties: 1, not: { properties: { $schema: { type: "string" } }, required: ["$schema"] } },
      ],
    },
  },
};
