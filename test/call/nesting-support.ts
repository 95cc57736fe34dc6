import { CallContext, type CallContextOptions } from "../../src/call/call-context.ts";
import { CallTree } from "../../src/call/call-tree.ts";
import { createInvoker, type Invoker, type InvokerOptions } from "../../src/call/create-invoker.ts";
import { toBespokeEntry, type AnyBespokeTool } from "../../src/catalog/custom/bespoke-tool.ts";
import type { Caller } from "../../src/surface/caller.ts";
import { toDefaultScopes } from "../../src/catalog/entry-scopes.ts";
import type { ToolEntry } from "../../src/catalog/entry.ts";
import type { ToolOutcome } from "../../src/catalog/outcome.ts";
import type { JsonObject } from "../../src/schema/json.ts";
import type { SurfaceClient } from "../../src/surface/client.ts";
import type { Fault } from "../../src/surface/fault.ts";
import { atEndOfTest } from "../setup/end-of-test.ts";

/** Somebody who was granted everything that there is by default. */
export const ada: Caller = Object.freeze({ id: "ada", isAnonymous: false, scopes: ["probe:read", "probe:write"] });

const source = {
  // No test that uses it has a backend.
  client: Object.freeze({}) as SurfaceClient<unknown>,
  scopes: toDefaultScopes("probe"),
};

/** Tools that can call each other, with an invoker of their own. */
export interface Tools {
  readonly invoker: Invoker;
  readonly tree: CallTree;
  readonly faults: Fault[];
  entry(id: string): ToolEntry;
  /** Calls one as a host does. */
  call(id: string, args?: JsonObject, setting?: CallContextOptions): Promise<ToolOutcome>;
  /** The same, with the call itself. */
  start(
    id: string,
    setting?: CallContextOptions,
  ): { readonly call: CallContext; readonly outcome: Promise<ToolOutcome> };
}

/** Makes tools by their ids; `change` is what is said of one besides what its author can say. */
export function toolsOf(
  tools: Readonly<Record<string, AnyBespokeTool>>,
  change: Readonly<Record<string, Partial<ToolEntry>>> = {},
  options: Partial<InvokerOptions> = {},
): Tools {
  const faults: Fault[] = [];
  const report = (fault: Fault): void => void faults.push(fault);
  const tree = new CallTree({ report });
  const entries = new Map(
    Object.entries(tools).map(([id, tool]) => [id, { ...toBespokeEntry(id, tool, source), ...change[id] }]),
  );
  const entry = (id: string): ToolEntry => {
    const found = entries.get(id);
    if (found === undefined) throw new Error(`there is no tool ${id}`);
    return found;
  };
  const find = (id: string): ToolEntry | undefined =>
    entries.get(id) ?? [...entries.values()].find(({ name }) => name === id);
  const invoker = createInvoker({ report, tree, find, ...options });
  return {
    invoker,
    tree,
    faults,
    entry,
    call: async (id, args = {}, setting = {}) =>
      invoker.call(entry(id), args, new CallContext({ caller: ada, ...setting })),
    start(id, setting = {}) {
      const call = new CallContext({ caller: ada, ...setting });
      return { call, outcome: Promise.resolve(invoker.call(entry(id), {}, call)) };
    },
  };
}

/** Makes tools as {@link toolsOf} does, and closes their invoker at the end of the test. */
export function openTools(...args: Parameters<typeof toolsOf>): Tools {
  const tools = toolsOf(...args);
  atEndOfTest(() => tools.invoker.close());
  return tools;
}

/** What came of a call, short: the JSON of an answer, or the code that it was refused with. */
export function shortOf(outcome: ToolOutcome): unknown {
  if (outcome.kind === "answer") return JSON.parse(outcome.text);
  return outcome.kind === "refused" ? outcome.code : outcome.kind;
}
