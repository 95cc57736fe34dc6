import { CiError } from "./errors.ts";
import type { LogTail } from "./log-tail.ts";
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
  clear(ids: readonly string[]): void;
}

/** Makes a book of logs of at most `limit` bytes each, which begin with what is restored. */
export function createLogBook(nodes: readonly PipelineNode[], limit: number, restored: readonly LogTail[]): LogBook {
  const logs = new Map(nodes.map(({ id }) => [id, createNodeLog(id, limit)]));
  for (const log of restored) logs.get(log.node)?.restore(log);
  return {
    find: (id) => logs.get(id),
    of(id, attempt) {
      const log = logs.get(id);
      if (log) return log;
      const known = [...logs.keys()].map((name) => `"${name}"`).join(", ");
      throw new CiError("UNKNOWN_NODE", `${attempt}: there is no such node, and it must be one of ${known}`);
    },
    clear(ids) {
      for (const id of ids) logs.get(id)?.clear();
    },
  };
}
