import type { EngineOptions } from "./engine-types.ts";
import { CiError } from "./errors.ts";
import { createNodeLog } from "./node-log.ts";
import type { NodeLog } from "./node-log.ts";
import type { PipelineNode } from "./pipeline.ts";

/** The logs of all nodes of a pipeline. */
export interface LogBook {
  find(id: string): NodeLog | undefined;
  /**
   * The log of a node that somebody asks for; `attempt` opens the message if there is none.
   *
   * @throws CiError `UNKNOWN_NODE`
   */
  of(id: string, attempt: string): NodeLog;
  /** Forgets the attempts before, here and where the logs are kept. */
  begin(run: number, ids: readonly string[]): void;
}

/** What the logs of a book are like, and who keeps them. */
export type LogBookSetting = Required<Pick<EngineOptions, "logBytes" | "memory" | "files">>;

/** Makes a book with a log a node, which begin with what is remembered. `runNow` tells whose logs they are. */
export function createLogBook(
  nodes: readonly PipelineNode[],
  { logBytes, memory, files }: LogBookSetting,
  runNow: () => number,
): LogBook {
  const logs = new Map(
    nodes.map(({ id }) => [id, createNodeLog(id, logBytes, (text) => files.append(runNow(), id, text))]),
  );
  for (const log of memory.logs) logs.get(log.node)?.restore(log);
  return {
    find: (id) => logs.get(id),
    of(id, attempt) {
      const log = logs.get(id);
      if (log) return log;
      const known = [...logs.keys()].map((name) => `"${name}"`).join(", ");
      throw new CiError("UNKNOWN_NODE", `${attempt}: there is no such node, and it must be one of ${known}`);
    },
    begin(run, ids) {
      for (const id of ids) logs.get(id)?.clear();
      files.begin(run, ids);
    },
  };
}
