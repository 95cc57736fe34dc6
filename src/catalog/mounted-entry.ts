import { Refusal } from "../errors.ts";
import type { Budget } from "../spine/budget.ts";
import type { SurfaceClient } from "../surface/client.ts";
import { internalError, runUnawaited, type FaultReporter } from "../surface/fault.ts";
import { checkRefusal } from "../surface/owner/check-refusal.ts";
import { toConfirmFunction, toConfirmRule, toConfirmWord } from "../tags/confirm.ts";
import { defaultOnDisconnect, defaultTimeoutMs, type ToolOptions } from "../tags/tool-options.ts";
import { operationNotFound } from "./cannot-nest.ts";
import { toConfirmText } from "./confirm-text.ts";
import { assertThingNamed, toGuard, type DefaultScopes } from "./entry-scopes.ts";
import type { EntryCall, ToolEntry } from "./entry.ts";
import type { MountedOperation, MountSource } from "./mount.ts";
import { mountedId } from "./mount-prefix.ts";
import { runMounted } from "./mounted-context.ts";
import { toMountedSchemas, type MountedSchemas } from "./mounted-schemas.ts";
import { keepNesting } from "./nesting-words.ts";
import type { ContextSource } from "./own-context.ts";
import { operationOrigin } from "./operation-origin.ts";
import { toToolHints } from "./tool-hints.ts";
import { unreachedFault } from "./unreached.ts";
import { toWireName } from "./wire-name.ts";

/** Where what is mounted comes from, and what is told of it. */
export interface MountParts {
  readonly prefix: string;
  readonly source: MountSource;
  readonly scopes: DefaultScopes;
  readonly report: FaultReporter;
  /** Counts the schemas of operations, in characters of JSON; the key is the prefix. */
  readonly schemas: Budget;
  /** Where handlers have from what is their own. Left out: in memory. */
  readonly contexts?: ContextSource | undefined;
  /** The client of the app's surface. */
  readonly client: SurfaceClient<unknown>;
  /** What the URIs of all that is read begin with. */
  readonly uriPrefix: string;
}

/** Where the operations of a mount come from. */
export interface MountSetting extends MountParts {
  /** What the source lists now under a name on the wire. */
  readonly find: (name: string) => ToolEntry | undefined;
}

function hintsOf({ type, destructive, idempotent, openWorld }: MountedOperation): ToolEntry["hints"] {
  const options: ToolOptions = {
    mutates: type !== "query",
    ...(destructive === undefined ? {} : { destructive }),
    ...(idempotent === undefined ? {} : { idempotent }),
    ...(openWorld === undefined ? {} : { openWorld }),
  };
  return toToolHints("unstated", options);
}

function keepList(list: readonly string[] | undefined): readonly string[] | undefined {
  return list === undefined ? undefined : Object.freeze([...list]);
}

/** What a call is told whose operation went while it was on its way. */
function notThere(): Refusal {
  return new Refusal(operationNotFound.code, operationNotFound.message);
}

/** Has a source look whether an operation is still what it listed. */
function lookAt(name: string, { prefix, source, report }: MountSetting): void {
  if (source.look === undefined) return;
  runUnawaited(
    () => source.look?.(name),
    (cause) => void internalError(cause, operationOrigin(mountedId(prefix, name)), report),
  );
}

type Run = ToolEntry["run"];

/** The same, with the details of declared codes held against their schemas. */
function withDetails(run: Run, details: MountedSchemas["details"], check: Parameters<typeof checkRefusal>[2]): Run {
  return async (input: unknown, call: EntryCall) => {
    try {
      return await run(input, call);
    } catch (cause) {
      // A code may be declared that is called as the one of what it could not call: that one is a fault, and stays what it is.
      const isOwn = cause instanceof Refusal && unreachedFault(cause) === undefined;
      throw isOwn ? await checkRefusal(cause, details, check) : cause;
    }
  };
}

/**
 * Turns an operation that was looked at into an entry. Its input and output are validated by the face.
 *
 * @throws SurfaceError `INVALID_NAME`, `INVALID_OPTION` or `SCHEMA_UNSUPPORTED`.
 */
export function toMountedEntry(operation: MountedOperation, setting: MountSetting): ToolEntry {
  const { prefix, scopes, report } = setting;
  const { name, title, description, version } = operation;
  const id = mountedId(prefix, name);
  const origin = operationOrigin(id);
  const hints = hintsOf(operation);
  const guard = toGuard(hints.readOnlyHint ? scopes.read : scopes.write, operation);
  const { owner, input, output, details, errors } = toMountedSchemas(operation, origin);
  assertThingNamed(guard, input, origin);
  const wireName = toWireName(id, { origin, allowDash: true });
  const now = (): ToolEntry | undefined => {
    lookAt(name, setting);
    return setting.find(wireName);
  };
  // Only as long as it is the one whose schemas its input was held against.
  const run: Run = (value, call) => {
    if (now() !== entry) throw notThere();
    return runMounted(call, setting.contexts, (context) => setting.source.invoke(name, value, context));
  };
  const entry: ToolEntry = Object.freeze({
    id,
    name: wireName,
    origin,
    ...{ title, description, version, hints, input, output, owner, errors },
    ...guard,
    tags: keepList(operation.tags),
    isInternal: operation.visibility === "internal",
    ...keepNesting(operation, hints.readOnlyHint ? [scopes.read] : [scopes.read, scopes.write]),
    timeoutMs: operation.timeoutMs ?? defaultTimeoutMs,
    countsQuestions: operation.timeoutMs !== undefined,
    onDisconnect: defaultOnDisconnect,
    confirm: toConfirmRule(operation.confirm),
    confirmWord: toConfirmWord(operation.confirm),
    confirmText: toConfirmText(toConfirmFunction(operation.confirm), { client: setting.client, origin }),
    now,
    run: errors === undefined ? run : withDetails(run, details, { where: origin, report }),
  });
  return entry;
}
