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

/** What the logs of a book are like. */
export interface LogBookSetting {
  /** The most bytes that a log keeps. */
  readonly limit: number;
  /** What they begin with. */
  readonly restored: readonly LogTail[];
  /** Told everything that is added to any of them. */
  readonly tee: (id: string, text: string) => void;
}

/** Makes a book with a log a node. */
export function createLogBook(nodes: readonly PipelineNode[], { limit, restored, tee }: LogBookSetting): LogBook {
  const logs = new Map(nodes.map(({ id }) => [id, createNodeLog(id, limit, (text) => tee(id, text))]));
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
