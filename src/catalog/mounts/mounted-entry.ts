import { Refusal } from "../../errors.ts";
import type { Budget } from "../../spine/budget.ts";
import type { SurfaceClient } from "../../surface/client.ts";
import { internalError, runUnawaited, type FaultReporter } from "../../surface/fault.ts";
import { checkRefusal } from "../../surface/owner/procedure-owner.ts";
import { defaultOnDisconnect, defaultTimeoutMs, type ToolOptions } from "../../tags/tool-options.ts";
import type { ContextSource } from "../context/own-context.ts";
import { runInContext } from "../context/tool-context.ts";
import type { EntryCall, ResourceEntry, ToolEntry } from "../entry.ts";
import { assertResourceArgument, toGuard, type DefaultScopes } from "../entry-scopes.ts";
import { operationNotFound } from "../outcome.ts";
import { unreachedFault } from "../own-refusals.ts";
import { confirmFields, freezeNesting, toToolHints } from "../tool-head.ts";
import { toWireName } from "../wire-name.ts";
import { mountedId, operationOrigin, type MountedOperation, type MountSource } from "./mount.ts";
import { toMountedSchemas, type MountedSchemas } from "./read-mounted.ts";

/** Refuses entries of mounts. Both methods throw a SurfaceError for an entry that must be left out. */
export interface MountedGate {
  assertTool(entry: ToolEntry): void;
  assertResource(entry: ResourceEntry): void;
}

/** Dependencies of the entries of one mount. */
export interface MountDeps {
  readonly prefix: string;
  readonly source: MountSource;
  readonly scopes: DefaultScopes;
  readonly report: FaultReporter;
  /** Counts the schemas of operations, in characters of JSON; the key is the prefix. */
  readonly schemas: Budget;
  /** @default in memory */
  readonly contexts?: ContextSource | undefined;
  /** The client of the app's surface. */
  readonly client: SurfaceClient<unknown>;
  /** The start of the URIs of resources. */
  readonly uriPrefix: string;
  /** Each may refuse an entry. @default none */
  readonly gates?: readonly (MountedGate | undefined)[] | undefined;
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

/** Lets a source check whether an operation is still as it was listed. */
function lookAt(name: string, { prefix, source, report }: MountDeps): void {
  if (source.look === undefined) return;
  runUnawaited(
    () => source.look?.(name),
    (cause) => void internalError(cause, operationOrigin(mountedId(prefix, name)), report),
  );
}

type Run = ToolEntry["run"];

/** Validates the details of declared codes. */
function withDetails(run: Run, details: MountedSchemas["details"], check: Parameters<typeof checkRefusal>[2]): Run {
  return async (input: unknown, call: EntryCall) => {
    try {
      return await run(input, call);
    } catch (cause) {
      // The refusal of a nested call is a fault, even if its code is declared.
      const isOwn = cause instanceof Refusal && unreachedFault(cause) === undefined;
      throw isOwn ? await checkRefusal(cause, details, check) : cause;
    }
  };
}

/**
 * Creates the tool of an operation. The call validates its input and output.
 *
 * @param find - returns the tool that the source lists at present under a name on the wire.
 * @throws SurfaceError `INVALID_NAME`, `INVALID_OPTION` or `SCHEMA_UNSUPPORTED`.
 */
export function toMountedEntry(
  operation: MountedOperation,
  deps: MountDeps,
  find: (name: string) => ToolEntry | undefined,
): ToolEntry {
  const { prefix, scopes, report } = deps;
  const { name, title, description, version, tags } = operation;
  const id = mountedId(prefix, name);
  const origin = operationOrigin(id);
  const hints = hintsOf(operation);
  const guard = toGuard(hints.readOnlyHint ? scopes.read : scopes.write, operation);
  const { owner, input, output, details, errors } = toMountedSchemas(operation, origin);
  assertResourceArgument(guard, input, origin);
  const wireName = toWireName(id, { origin, allowDash: true });
  const now = (): ToolEntry | undefined => {
    lookAt(name, deps);
    return find(wireName);
  };
  const run: Run = (value, call) => {
    // The input was validated against the schemas of this entry, and of no other.
    if (now() !== entry) throw new Refusal(operationNotFound.code, operationNotFound.message);
    return runInContext(call, deps, (context) => deps.source.invoke(name, value, context));
  };
  const entry: ToolEntry = Object.freeze({
    id,
    name: wireName,
    origin,
    ...{ title, description, version, hints, input, output, owner, errors, tags },
    ...guard,
    isInternal: operation.visibility === "internal",
    ...freezeNesting(operation, hints.readOnlyHint ? [scopes.read] : [scopes.read, scopes.write]),
    timeoutMs: operation.timeoutMs ?? defaultTimeoutMs,
    countsQuestions: operation.timeoutMs !== undefined,
    onDisconnect: defaultOnDisconnect,
    ...confirmFields(operation.confirm, deps.client, origin),
    now,
    run: errors === undefined ? run : withDetails(run, details, { where: origin, report }),
  });
  return entry;
}
