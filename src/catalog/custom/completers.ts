import { SurfaceError } from "../../errors.ts";
import { isObject } from "../../options/is-object.ts";
import { isJsonObject, type JsonSchema, type JsonValue } from "../../schema/json.ts";
import { valuesOf } from "../../schema/keywords.ts";
import type { InferInput, Schema } from "../../schema/standard.ts";
import type { MemoryContext } from "../context/memory-context.ts";
import { runInContext, type BespokeSource, type ToolContext } from "../context/tool-context.ts";
import type { Completer, Filled } from "../entry.ts";

/** UTF-16 units of the longest value that is proposed. */
const maxProposalLength = 1024;

/** Proposals that are counted. A completer of a longer list stops here, and the client learns no total. */
export const maxCountedProposals = 1000;

/** Returns whether a text starts with the typed text, in either case, and is short enough to propose. */
export function isProposal(text: string, begunLower: string): boolean {
  return text.length <= maxProposalLength && text.toLowerCase().startsWith(begunLower);
}

/** Returns the values that a schema lists, in its order; `undefined` if it lists none. */
function listedValues(json: JsonSchema): readonly JsonValue[] | undefined {
  const own = valuesOf(json) ?? (json["type"] === "boolean" ? [true, false] : undefined);
  if (own !== undefined) return own;
  const arms = json["anyOf"] ?? json["oneOf"];
  if (!Array.isArray(arms)) return undefined;
  // An arm that takes any other value leaves the others as proposals.
  const values = arms.flatMap((arm) => (isJsonObject(arm) ? (listedValues(arm) ?? []) : []));
  return values.length === 0 ? undefined : values;
}

/** Returns a completer of the values that a schema lists: an enum, a constant, true and false. `undefined` if it lists none. */
export function toSchemaCompleter(json: JsonSchema): Completer | undefined {
  const values = listedValues(json)?.filter((value) => typeof value !== "object");
  if (values === undefined || values.length === 0) return undefined;
  const texts = Object.freeze(values.map(String));
  return () => texts;
}

/** The second argument of completers. */
export interface CompleterContext<TSpec, TContext = MemoryContext> extends ToolContext<TSpec, TContext> {
  /** The other fields that are filled in already, as texts, not validated. Empty if the host does not send them. */
  readonly arguments: Filled;
}

/** Proposes values for one field, given the text typed so far. Returns strings for fields of every type, `["1", "2"]` for numbers. */
export type BespokeCompleter<TSpec, TContext = MemoryContext> = (
  begun: string,
  context: CompleterContext<TSpec, TContext>,
) => readonly string[] | Promise<readonly string[]>;

/** Completers by field of an input. */
export type BespokeCompleters<TInput, TSpec, TContext = MemoryContext> = [Extract<TInput, Schema>] extends [never]
  ? Readonly<Record<string, never>>
  : { readonly [Key in keyof InferInput<Extract<TInput, Schema>>]?: BespokeCompleter<TSpec, TContext> };

/** Completers, without the types of their input. */
export type AnyBespokeCompleters = Readonly<Record<string, BespokeCompleter<unknown, unknown> | undefined>>;

/** Returns the completer of a field: the author's, or one of the values that its schema lists. `undefined` without either. */
export function toCompleter(
  { name, json }: { readonly name: string; readonly json: JsonSchema },
  complete: AnyBespokeCompleters | undefined,
  source: Pick<BespokeSource, "client" | "contexts">,
): Completer | undefined {
  const own = complete !== undefined && Object.hasOwn(complete, name) ? complete[name] : undefined;
  if (own === undefined) return toSchemaCompleter(json);
  return (begun, call, filled) =>
    runInContext(call, source, (context) => own(begun, Object.assign(context, { arguments: filled })));
}

/** Refuses completers of unknown fields, and invalid ones. The compiler does so too. @throws SurfaceError `INVALID_OPTION`. */
export function assertCompleters(
  complete: unknown,
  fields: readonly { readonly name: string }[],
  origin: string,
): void {
  if (complete === undefined) return;
  const refuse = (problem: string): never => {
    throw new SurfaceError("INVALID_OPTION", `Cannot add ${origin}: ${problem}`);
  };
  if (!isObject(complete)) return refuse('its "complete" must be an object of functions by field');
  for (const [field, completer] of Object.entries(complete)) {
    if (fields.every(({ name }) => name !== field)) refuse(`it completes "${field}", which its input does not have`);
    if (completer !== undefined && typeof completer !== "function") {
      refuse(`the completer of "${field}" must be a function`);
    }
  }
}
