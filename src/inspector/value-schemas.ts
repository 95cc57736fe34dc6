import type { MemberExposure } from "../catalog/read-exposures.ts";
import { toOutputSchema } from "../schema/compile-schema.ts";
import type { JsonSchema } from "../schema/json.ts";
import type { Schema } from "../schema/standard.ts";

/** Returns the schema of all forms in which a resource has values of a member: one value, or a list of items. */
function toFormSchema(json: JsonSchema): JsonSchema {
  const listed = { properties: { items: { items: { properties: { item: json, value: json } } } } };
  const definitions = json["$defs"];
  return { anyOf: [json, { items: json }, listed], ...(definitions === undefined ? {} : { $defs: definitions }) };
}

/** Creates the lookup of the schemas by which values are redacted, by the id of an entry. Entries by hand have none. */
export function valueSchemas(exposures: readonly MemberExposure[]): (id: string) => JsonSchema | undefined {
  const members = new Map(exposures.map(({ key, member }) => [key, member]));
  const known = new Map<string, JsonSchema | undefined>();
  return (id) => {
    const member = members.get(id);
    if (member === undefined || known.has(id)) return known.get(id);
    const schema: Schema | undefined = "output" in member ? member.output : member.schema;
    const json = toOutputSchema(schema, `"${id}"`)?.bare.json;
    const form = json && toFormSchema(json);
    known.set(id, form);
    return form;
  };
}
