import { CallContext } from "../../src/call/call-context.ts";
import { createInvoker, type Invoker } from "../../src/call/create-invoker.ts";
import type { ToolOutcome } from "../../src/catalog/outcome.ts";
import { toBespokeEntry, type AnyBespokeTool } from "../../src/catalog/custom/bespoke-tool.ts";
import { toDefaultScopes } from "../../src/catalog/entry-scopes.ts";
import type { ToolEntry } from "../../src/catalog/entry.ts";
import type { JsonObject } from "../../src/schema/json.ts";
import type { SurfaceClient } from "../../src/surface/client.ts";
import type { Fault } from "../../src/surface/fault.ts";

/** An invoker whose owner's log is a list. */
export function loggingInvoker(): { readonly invoker: Invoker; readonly faults: Fault[] } {
  const faults: Fault[] = [];
  return { invoker: createInvoker({ report: (fault) => faults.push(fault) }), faults };
}

const source = {
  // No test that uses it has a backend.
  client: Object.freeze({}) as SurfaceClient<unknown>,
  scopes: toDefaultScopes("probe"),
};

/** A bespoke tool as the catalog would hold it. */
export function bespoke(tool: AnyBespokeTool): ToolEntry {
  return toBespokeEntry("probe", tool, source);
}

/** A tool whose arguments and answer a live surface validates: `run` stands for its channel. */
export function surfaceOwned(run: ToolEntry["run"], more: Partial<ToolEntry> = {}): ToolEntry {
  return { ...bespoke({ handler: () => undefined }), origin: 'procedure "probe"', owner: "surface", run, ...more };
}

/** Calls a tool once, on an invoker of its own. */
export async function callOnce(
  entry: ToolEntry,
  args: JsonObject = {},
  call: CallContext = new CallContext(),
): Promise<{ readonly outcome: ToolOutcome; readonly faults: readonly Fault[] }> {
  const { invoker, faults } = loggingInvoker();
  try {
    return { outcome: await invoker.call(entry, args, call), faults };
  } finally {
    invoker.close();
  }
}
