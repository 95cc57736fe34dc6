import { CallContext } from "../../../src/call/call-context.ts";
import { createInvoker } from "../../../src/call/create-invoker.ts";
import type { ProgressReport } from "../../../src/catalog/entry.ts";
import type { MountSource } from "../../../src/catalog/mounts/mount.ts";
import type { ToolOutcome } from "../../../src/catalog/outcome.ts";
import type { JsonObject } from "../../../src/schema/json.ts";
import type { Fault } from "../../../src/surface/fault.ts";
import { mount } from "../../catalog/mounts/mount-support.ts";

/** What one call of an agent has come to so far. */
export interface StartedRun {
  readonly call: CallContext;
  readonly reports: readonly ProgressReport[];
  readonly outcome: Promise<ToolOutcome>;
  /** What was masked by the app. */
  readonly faults: readonly Fault[];
  /** Resolves when nothing of it runs any more. */
  readonly idle: () => Promise<void>;
}

/** Calls the first operation of a source by the one invoker, as an app does. */
export function startAgent(source: MountSource, args: JsonObject = {}): StartedRun {
  const faults: Fault[] = [];
  const reports: ProgressReport[] = [];
  const { live } = mount({ crew: source });
  const entry = live.current.tools.find(({ id }) => id.startsWith("crew."));
  if (entry === undefined) throw new TypeError("nothing was mounted");
  const invoker = createInvoker({ report: (fault) => void faults.push(fault) });
  const call = new CallContext({ sink: (report) => void reports.push(report) });
  const outcome = Promise.resolve(invoker.call(entry, args, call));
  return { call, reports, faults, outcome, idle: () => new Promise((resolve) => call.whenIdle(resolve)) };
}

/** The same, when its caller was told what came of it. */
export async function runAgent(
  source: MountSource,
  args: JsonObject = {},
): Promise<Omit<StartedRun, "outcome"> & { readonly outcome: ToolOutcome }> {
  const started = startAgent(source, args);
  return { ...started, outcome: await started.outcome };
}
