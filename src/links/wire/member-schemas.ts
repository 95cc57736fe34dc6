import { toInputSchema, toOutputSchema } from "../../schema/compile-schema.ts";
import type { CompiledSchema } from "../../schema/compile-schema.ts";
import type { Schema } from "../../schema/standard.ts";
import type { Member } from "../../surface/member.ts";

/** The schemas of one member, as its values travel: each on the side that crosses. */
export interface MemberSchemas {
  /** Of what is sent along: an input, or the key of an item. Input side; everything else is of the output side. */
  readonly argument: CompiledSchema | undefined;
  readonly value: CompiledSchema | undefined;
  /** Of a collection's keys, as they are listed. */
  readonly key: CompiledSchema | undefined;
  /** Of the filter of a collection. Input side. */
  readonly filter: CompiledSchema | undefined;
  readonly progress: CompiledSchema | undefined;
  /** Of the details of declared refusals, by code. */
  readonly errors: Readonly<Record<string, CompiledSchema>>;
}

type Part = "key" | "schema" | "filter" | "input" | "output" | "progress";

/** A schema of a member, where members of its kind have one by that name. */
function schemaAt(member: Member, part: Part): Schema | undefined {
  // Each of these names holds a schema or nothing, in every kind of member that has it.
  return Object.hasOwn(member, part) ? (Reflect.get(member, part) as Schema | undefined) : undefined;
}

function compileErrors(member: Member, where: string): Record<string, CompiledSchema> {
  // Without a prototype: a far side names the codes that are looked up here.
  const compiled = Object.create(null) as Record<string, CompiledSchema>;
  if (member.kind !== "procedure") return compiled;
  for (const [code, schema] of Object.entries(member.errors)) {
    const details = toOutputSchema(schema, `"${code}" of ${where}`);
    if (details !== undefined) compiled[code] = details;
  }
  return compiled;
}

function compileMember(member: Member, key: string): MemberSchemas {
  const where = `${member.kind} "${key}"`;
  const argument = schemaAt(member, "key") ?? schemaAt(member, "input");
  const filter = schemaAt(member, "filter");
  return {
    argument: argument === undefined ? undefined : toInputSchema(argument, where),
    value: toOutputSchema(schemaAt(member, "schema") ?? schemaAt(member, "output"), where),
    key: toOutputSchema(schemaAt(member, "key"), where),
    filter: filter === undefined ? undefined : toInputSchema(filter, `the filter of ${where}`),
    progress: toOutputSchema(schemaAt(member, "progress"), where),
    errors: compileErrors(member, where),
  };
}

const known = new WeakMap<Member, MemberSchemas>();

/**
 * Compiles the schemas of a member, once.
 *
 * @throws SurfaceError `SCHEMA_UNSUPPORTED` when one of them has no JSON form.
 */
export function toMemberSchemas(member: Member, key: string): MemberSchemas {
  let schemas = known.get(member);
  if (schemas === undefined) {
    schemas = compileMember(member, key);
    known.set(member, schemas);
  }
  return schemas;
}
