import { isJsonObject, type JsonSchema, type JsonValue } from "../../schema/json.ts";
import type { Completer, Filled } from "../entry.ts";
import { SurfaceError } from "../../errors.ts";
import type { InferInput, Schema } from "../../schema/standard.ts";
import { runInContext, type BespokeSource, type ToolContext } from "../context/tool-context.ts";
import type { MemoryContext } from "../context/memory-context.ts";

/** The longest value that is proposed, in UTF-16 units. */
const maxProposalLength = 1024;

/** Proposals that are counted. A completer of a longer list stops here, and the client learns no total. */
export const maxCountedProposals = 1000;

/** Whether a text starts with what was typed, in either case, and is short enough to propose. */
export function isProposal(text: string, begunLower: string): boolean {
  return text.length <= maxProposalLength && text.toLowerCase().startsWith(begunLower);
}

/** Returns the values that a schema lists, in its order; `undefined` if it lists none. */
function listedValues(json: JsonSchema): readonly JsonValue[] | undefined {
  if (json["const"] !== undefined) return [json["const"]];
  if (Array.isArray(json["enum"])) return json["enum"];
  if (json["type"] === "boolean") return [true, false];
  const arms = json["anyOf"] ?? json["oneOf"];
  if (!Array.isArray(arms)) return undefined;
  // An arm that takes anything else leaves the others as proposals.
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

/** What a completer receives besides what somebody has begun to write. */
export interface CompleterContext<TSpec, TContext = MemoryContext> extends ToolContext<TSpec, TContext> {
  /**
   * The other fields that are filled in already, as texts, whatever their schemas: nothing of it is validated. Hosts that
   * do not say leave it empty.
   */
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

/** Completers as the catalog keeps them. */
export type AnyBespokeCompleters = Readonly<Record<string, BespokeCompleter<unknown, unknown> | undefined>>;

/** What {@link toCompleter} takes. */
interface CompleterSource extends Pick<BespokeSource, "client" | "contexts"> {
  readonly complete: AnyBespokeCompleters | undefined;
}

/** The completer of one field; `undefined` where its author wrote none. */
export function toCompleter(name: string, source: CompleterSource): Completer | undefined {
  const { complete } = source;
  const own = complete !== undefined && Object.hasOwn(complete, name) ? complete[name] : undefined;
  return (
    own &&
    ((begun, call, filled) =>
      runInContext(call, source, (context) => own(begun, Object.assign(context, { arguments: filled }))))
  );
}

/**
 * Refuses completers of fields that there are not, and what is no function, for callers who cast.
 *
 * @throws SurfaceError `INVALID_OPTION`.
 */
export function assertCompleters(complete: unknown, fields: readonly string[], origin: string): void {
  if (complete === undefined) return;
  if (typeof complete !== "object" || complete === null) {
    throw new SurfaceError("INVALID_OPTION", `Adding ${origin}: its "complete" must have a function a field`);
  }
  for (const [field, completer] of Object.entries(complete)) {
    if (!fields.includes(field)) {
      throw new SurfaceError(
        "INVALID_OPTION",
        `Adding ${origin}: it completes "${field}", which is no field of its input`,
      );
    }
    if (completer !== undefined && typeof completer !== "function") {
      throw new SurfaceError("INVALID_OPTION", `Adding ${origin}: the completer of "${field}" must be a function`);
    }
  }
}
