import { jsonBody } from "../../catalog/content/resource-body.ts";
import { collectFrames, toPullArguments, toPullSchema } from "../../catalog/kinds/stream-mapping.ts";
import { slackMs, withHeartbeat } from "../../catalog/kinds/waiting-tool.ts";
import type {
  MountContext,
  MountedOperation,
  MountedResource,
  MountNames,
  MountSource,
} from "../../catalog/mounts/mount.ts";
import { operationRegistry, type RegisteredOperation } from "../../catalog/mounts/operation-registry.ts";
import { readResource } from "../../catalog/mounts/read-mounted.ts";
import { splitFields, withFields } from "../../catalog/tool-schemas.ts";
import { SurfaceError } from "../../errors.ts";
import { isRecord } from "../../options/is-object.ts";
import { invalidOption, readChoice } from "../../options/read-options.ts";
import { isJsonObject, type JsonObject, type JsonSchema, type JsonValue } from "../../schema/json.ts";
import { anyCodec } from "../../schema/wire-codec.ts";
import type { RpcProcedure } from "./procedure.ts";
import { SubscriptionItems, NewestItems } from "./subscriptions.ts";

/** A procedure and the author's options of its exposure. */
export interface Exposed {
  /** The name of the tool, or the path of the resource. @default the key in the map */
  readonly name?: string;
  readonly procedure: RpcProcedure;
  readonly as: "tool" | "resource";
  readonly options: object;
}

type Named = Required<Exposed>;

/** The fields that a procedure itself decides. */
const fixedFields = ["type", "inputSchema", "outputSchema", "errorSchemas", "visibility", "path", "mimeType"];

/** The values of an expose map. */
export interface ExposureForms<TWord extends string> {
  readonly words: readonly TWord[];
  /** Further options that the procedure itself decides. */
  readonly fixed: readonly string[];
}

/** The values of the expose map of a router. */
export const rpcExposures: ExposureForms<Exposed["as"]> = { words: ["tool", "resource"], fixed: ["name"] };

/**
 * Reads a value of an expose map: a word, or an object with a word and options.
 *
 * @param doing - the start of messages.
 * @throws SurfaceError `INVALID_OPTION`, also for an option that the procedure itself decides.
 */
export function readExposeValue<TWord extends string>(
  doing: string,
  value: unknown,
  { words, fixed }: ExposureForms<TWord>,
): { readonly as: TWord; readonly options: object } {
  const choice = readChoice(value, words, {});
  if (choice === undefined || !isRecord(choice.given)) {
    const all = [...words.map((word) => `"${word}"`), ...words.map((word) => `{ ${word}: { … } }`)];
    throw invalidOption(doing, `write ${all.slice(0, -1).join(", ")} or ${all.at(-1)}`);
  }
  const { word: as, given: options } = choice;
  const decided = [...fixedFields, ...fixed].find((field) => field in options);
  if (decided !== undefined) throw invalidOption(doing, `"${decided}" is not an option: the API decides it`);
  return { as, options };
}

function assertKind({ name, procedure: { kind, input }, as }: Named): void {
  if (as === "tool") return;
  if (kind !== "mutation" && !input.isRequired()) return;
  const why = kind === "mutation" ? "it may change something" : "it requires an input";
  throw new SurfaceError("WRONG_KIND", `Cannot expose ${kind} "${name}" as a resource: ${why}; expose it as "tool"`);
}

/** Awaits work of a router. @throws what a caller may see, or an error to mask. */
async function mapped<TValue>(procedure: RpcProcedure, work: () => Promise<TValue>): Promise<TValue> {
  try {
    return await work();
  } catch (cause) {
    throw procedure.toError(cause);
  }
}

function toArgs(input: unknown): JsonObject {
  return isJsonObject(input) ? input : {};
}

/** Returns the tool of a query or a mutation. */
function toCallTool({ name, procedure, options }: Named): RegisteredOperation {
  const { kind, texts, input, output } = procedure;
  const operation: MountedOperation = {
    ...texts,
    ...options,
    name,
    type: kind === "query" ? "query" : "mutation",
    ...(input.json === undefined ? {} : { inputSchema: input.json }),
    ...(output === undefined ? {} : { outputSchema: output.json }),
  };
  return [
    operation,
    async (args: unknown, { caller, signal }) => {
      const value = await mapped(procedure, () => procedure.call(input.decode(toArgs(args)), { caller, signal }));
      return output === undefined ? value : output.encode(value);
    },
  ];
}

/** Returns an item without its own envelope, and the id in that. */
function toItem(procedure: RpcProcedure, given: unknown): { readonly id?: string; readonly item: JsonValue } {
  const { item, ...rest } = procedure.toItem?.(given) ?? { item: given };
  return { ...rest, item: (procedure.output ?? anyCodec).encode(item) };
}

/** Returns the schema of pulled items, with the id of the last one. */
function toPulledSchema({ output }: RpcProcedure): JsonSchema {
  return withFields(toPullSchema(output?.json ?? {}), {
    lastEventId: { type: "string", description: "The id of the last item, for subscriptions that continue behind one" },
  });
}

/** Returns the tool that pulls some items of a subscription. */
function toPullTool({ name, procedure, options }: Named): RegisteredOperation {
  const { texts, input } = procedure;
  const timeoutMs: unknown = Reflect.get(options, "timeoutMs");
  const pull = toPullArguments(typeof timeoutMs === "number" ? timeoutMs : undefined);
  const fields = Object.keys(pull.fields);
  const json = input.json ?? { type: "object", properties: {}, additionalProperties: false };
  const taken = fields.find((field) => isJsonObject(json["properties"]) && Object.hasOwn(json["properties"], field));
  if (taken !== undefined) {
    const problem = `its input field "${taken}" has the name of an argument that the tool of every subscription takes`;
    throw new SurfaceError("INVALID_MEMBER", `Cannot expose subscription "${name}" as a tool: ${problem}; rename it`);
  }
  const operation: MountedOperation = {
    ...texts,
    ...options,
    name,
    type: "query",
    inputSchema: withFields(json, pull.fields),
    outputSchema: toPulledSchema(procedure),
    timeoutMs: pull.wait.maximum + slackMs,
  };
  const run = async (args: unknown, { caller, signal }: MountContext): Promise<JsonValue> => {
    const [own, limits] = splitFields(toArgs(args), fields);
    const raw = input.decode(own);
    const open = (ending: AbortSignal): SubscriptionItems =>
      new SubscriptionItems(procedure, raw, { caller, signal: ending });
    const pulled = await collectFrames({ open, signal }, pull.readFields(limits));
    const items = pulled.items.map((item) => toItem(procedure, item));
    const id = items.at(-1)?.id;
    return {
      items: items.map(({ item }) => item),
      ended: pulled.ended,
      ...(id === undefined ? {} : { lastEventId: id }),
    };
  };
  return [operation, (args: unknown, context) => withHeartbeat(run(args, context), context)];
}

/** Resources of queries and subscriptions, by path. @throws SurfaceError `NAME_COLLISION`. */
function toResources(exposed: readonly Named[]): Required<Pick<MountSource, "resources" | "read" | "watch">> {
  const procedures = new Map(exposed.map(({ name, procedure }) => [name, procedure] as const));
  if (procedures.size < exposed.length) {
    const problem = 'two resources have one name; give one of them the option "name"';
    throw new SurfaceError("NAME_COLLISION", `Cannot expose resources: ${problem}`);
  }
  const subscriptions = new NewestItems();
  const listed = exposed.map(({ name, procedure, options }): MountedResource => {
    const mimeType = procedure.mimeType === undefined ? {} : { mimeType: procedure.mimeType };
    return readResource({ ...procedure.texts, ...mimeType, ...options, path: name }, "");
  });
  return {
    resources: () => listed,
    async read(path, { caller, signal }) {
      const procedure = procedures.get(path);
      if (procedure === undefined) return undefined;
      const call = { caller, signal };
      if (procedure.kind === "subscription") {
        const newest = await subscriptions.read(path, procedure, call);
        return newest === undefined ? undefined : jsonBody(toItem(procedure, newest.item).item);
      }
      const value = await mapped(procedure, () => procedure.call(procedure.input.empty(), call));
      // A text of another media type is the content itself.
      if (value === undefined || procedure.mimeType !== undefined) return value;
      return jsonBody(procedure.output === undefined ? anyCodec.encode(value) : procedure.output.encode(value));
    },
    watch(path, changed, { caller }) {
      const procedure = procedures.get(path);
      // A query does not announce changes.
      if (procedure?.kind !== "subscription") return () => {};
      return subscriptions.watch(path, procedure, { caller, changed });
    },
  };
}

/**
 * Creates the mount source of the procedures that an expose map names, and of no others.
 *
 * @typeParam TNames - the names that the map makes.
 * @param read - reads an entry of the map. Throws `UNKNOWN_MEMBER` for an unknown key.
 * @throws SurfaceError `INVALID_OPTION`, `UNKNOWN_MEMBER`, `WRONG_KIND`, `INVALID_NAME`, `NAME_COLLISION`, `CONTRADICTION`,
 * `INVALID_MEMBER`, `SCHEMA_UNSUPPORTED`.
 */
export function createRpcSource<TNames extends MountNames>(
  expose: unknown,
  read: (key: string, value: unknown) => Exposed,
): MountSource<TNames> {
  if (!isRecord(expose)) {
    throw invalidOption("Cannot expose procedures", "the map, the second argument, must be an object of keys");
  }
  const exposed = Object.entries(expose)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]): Named => {
      const named = { name: key, ...read(key, value) };
      assertKind(named);
      return named;
    });
  const tools = exposed.filter(({ as }) => as === "tool");
  const registry = operationRegistry(
    tools.map((tool) => (tool.procedure.kind === "subscription" ? toPullTool(tool) : toCallTool(tool))),
  );
  const resources = exposed.filter(({ as }) => as === "resource");
  return Object.freeze({
    list: () => registry.list(),
    // Neither a router nor a document changes.
    subscribe: () => () => {},
    invoke: (name: string, input: unknown, context: MountContext) => registry.invoke(name, input, context),
    ...(resources.length === 0 ? {} : toResources(resources)),
  });
}
