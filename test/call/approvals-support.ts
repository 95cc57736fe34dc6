import { vi } from "vitest";
import { z } from "zod";
import { Approvals, type Approval } from "../../src/call/approvals.ts";
import type { CallContextOptions } from "../../src/call/call-context.ts";
import type { InvokerOptions } from "../../src/call/create-invoker.ts";
import type { AnyBespokeTool } from "../../src/catalog/custom/bespoke-tool.ts";
import type { ToolEntry } from "../../src/catalog/entry.ts";
import type { ToolOutcome } from "../../src/catalog/outcome.ts";
import { until } from "../surface/support.ts";
import { openTools, type Tools } from "./nesting-support.ts";

const input = z.object({ path: z.string() });

/** An approver who reads the list at another time. */
export const ignore = { changed: (): void => {} };

/** Approvals whose approver agrees to everything at once. */
export function agreeing(): Approvals {
  const approvals = new Approvals();
  approvals.open({
    changed: () => {
      for (const { id } of approvals.waiting()) approvals.decide(id, { agree: true });
    },
  });
  return approvals;
}

/** Tools that have to be confirmed. */
export interface Removing {
  readonly approvals: Approvals;
  readonly tools: Tools;
  readonly handler: ReturnType<typeof vi.fn<(args: unknown) => unknown>>;
  /** Calls the tool. */
  readonly remove: (path: string, setting?: CallContextOptions) => Promise<ToolOutcome>;
  /** Waits for a number of approvals, and returns them. */
  readonly waiting: (count?: number) => Promise<readonly Approval[]>;
  readonly decide: (approval: Approval | undefined, agree: boolean, word?: string) => boolean;
}

/** Opens a tool that has to be confirmed, and counts its runs. */
export function openRemoving(
  more: Partial<AnyBespokeTool> = {},
  options: Partial<InvokerOptions> = {},
  change: Partial<ToolEntry> = {},
): Removing {
  const approvals = new Approvals();
  const handler = vi.fn<(args: unknown) => unknown>((args) => args);
  const remove = { title: "Remove a file", confirm: true, input, handler, ...more };
  const tools = openTools({ remove }, { remove: change }, { approvals, ...options });
  return {
    approvals,
    handler,
    tools,
    remove: (path, setting) => tools.call("remove", { path }, setting),
    waiting: async (count = 1) => {
      await until(() => approvals.waiting().length === count);
      return approvals.waiting();
    },
    decide: (approval, agree, word) =>
      approvals.decide(approval?.id ?? "", { agree, ...(word === undefined ? {} : { word }) }),
  };
}

/** Opens a tool that calls another one twice at once. */
export function openNesting(): Pick<Removing, "approvals" | "tools" | "waiting" | "decide" | "handler"> {
  const approvals = new Approvals();
  const handler = vi.fn<(args: unknown) => unknown>((args) => args);
  const outer: AnyBespokeTool = {
    canCall: ["remove"],
    handler: async (_args, { call }) => {
      const settled = await Promise.allSettled(["a", "b"].map((path) => call("remove", { path })));
      return settled.map((one) => (one.status === "fulfilled" ? one.value : Reflect.get(Object(one.reason), "code")));
    },
  };
  const tools = openTools({ outer, remove: { confirm: true, input, handler } }, {}, { approvals });
  return {
    approvals,
    handler,
    tools,
    waiting: async (count = 1) => {
      await until(() => approvals.waiting().length === count);
      return approvals.waiting();
    },
    decide: (approval, agree) => approvals.decide(approval?.id ?? "", { agree }),
  };
}
