import { SurfaceError } from "../../errors.ts";
import { scalarFields } from "../../schema/coerce-scalar.ts";
import type { CompiledSchema } from "../../schema/compile-schema.ts";
import type { JsonObject } from "../../schema/json.ts";
import type { TemplateVariable } from "../entry.ts";

/** How the variables of a template become a member's input. */
export interface TemplateShape {
  readonly variables: readonly TemplateVariable[];
  /** The RFC 6570 part after the base: `/{node}{/since}`. */
  readonly suffix: string;
  /** Variables by name -> the input. */
  toInput(variables: JsonObject): unknown;
}

/** What a shape is made from. */
export interface TemplateSource {
  readonly schema: CompiledSchema;
  /** The variable's name where the input is one scalar. */
  readonly single: string;
  readonly origin: string;
}

// RFC 6570's varname without its percent-encoded and dotted forms, which clients spell in different ways.
const namePattern = /^[A-Za-z0-9_]+$/;

function assertNames(variables: readonly TemplateVariable[], origin: string): void {
  const odd = variables.find(({ name }) => !namePattern.test(name));
  if (odd === undefined) return;
  throw new SurfaceError(
    "INVALID_MEMBER",
    `Exposing ${origin} as a resource: its field "${odd.name}" is a variable in a URI and must be letters, digits and "_"`,
  );
}

function assertOptionalsLast(variables: readonly TemplateVariable[], origin: string): void {
  const firstOptional = variables.findIndex((variable) => !variable.required);
  if (firstOptional === -1 || variables.slice(firstOptional).every((variable) => !variable.required)) return;
  throw new SurfaceError(
    "INVALID_MEMBER",
    `Exposing ${origin} as a resource: its optional fields must be declared last`,
  );
}

/**
 * The template of an input that is a scalar or a flat object of scalars in declared order.
 *
 * @throws SurfaceError `INVALID_MEMBER` when it is neither, for schemas whose type says less than their JSON Schema.
 */
export function toTemplateShape(source: TemplateSource): TemplateShape {
  const { schema, single, origin } = source;
  const fields = scalarFields(schema.json);
  if (fields === undefined || fields.length === 0) {
    throw new SurfaceError(
      "INVALID_MEMBER",
      `Exposing ${origin} as a resource: its input must be a scalar or a flat object of scalars, since it is spelled in a URI`,
    );
  }
  const variables = fields.map((field) => Object.freeze(schema.wrapped ? { ...field, name: single } : field));
  assertNames(variables, origin);
  assertOptionalsLast(variables, origin);
  return {
    variables: Object.freeze(variables),
    suffix: variables.map(({ name, required }) => (required ? `/{${name}}` : `{/${name}}`)).join(""),
    toInput: (given) => schema.codec.decode(schema.wrapped ? rename(given, single) : given),
  };
}

/** The one variable under the key that a wrapped schema reads. One that was left out stays left out. */
function rename(given: JsonObject, single: string): JsonObject {
  const value = Object.hasOwn(given, single) ? given[single] : undefined;
  return value === undefined ? {} : { value };
}
