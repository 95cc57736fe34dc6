import { setTimeout as delay } from "node:timers/promises";
import { derive, Refusal } from "surface-mcp";
import type { HandlerContext, StreamClient } from "surface-mcp";
import type { z } from "zod";

import type { AgentLog, AgentNodeId } from "./agent-schemas.ts";
import { readRunLog } from "./engine/read-run-log.ts";
import type { LogTail, NodeId } from "./pipeline-schemas.ts";

type Frame = z.output<typeof AgentLog>;
type Asked = z.output<typeof AgentNodeId>;
type Upstream = StreamClient<typeof NodeId, z.output<typeof LogTail>>;
type LogHandler = (asked: Asked, context: HandlerContext) => AsyncIterable<Frame>;

/** How long a reader waits for a coordinator before it is shown the file: longer than one that is there ever takes. */
const PATIENCE_MS = 500;
/** How soon a coordinator that was lost is asked again; while there is none, asking takes its time. */
const AGAIN_MS = 250;

/**
 * Makes the handler of a log: what the coordinator says, bounded by it; and what the file of its last run says, before that
 * is there and after it is gone. A log that somebody reads ends with its reader only.
 */
export function createLogHandler(upstream: Upstream, runs: string): LogHandler {
  return async function* (asked, context) {
    const log = new AgentLogReader(upstream, runs, asked);
    while (!context.signal.aborted) {
      yield* log.live(context);
      yield* log.file();
      await delay(AGAIN_MS, undefined, { signal: context.signal }).catch(() => {});
    }
  };
}

class AgentLogReader {
  readonly #upstream: Upstream;
  readonly #runs: string;
  readonly #asked: Asked;
  #shown: Frame | undefined;

  constructor(upstream: Upstream, runs: string, asked: Asked) {
    this.#upstream = upstream;
    this.#runs = runs;
    this.#asked = asked;
  }

  /** Until the coordinator is gone. One that has said no knows best; one that nobody has ever heard is no log. */
  async *live(context: HandlerContext): AsyncGenerator<Frame> {
    const open = derive.stream(this.#upstream, ({ node, text, truncated }) => toFrame({ node, text, truncated }), {
      otherwise: async function* (this: void, _asked: Asked, { cause }) {
        if (cause instanceof Refusal || !(await hasOther())) throw cause;
        // Nothing here: what the file says comes after this, however it has ended.
        yield* [];
      },
    });
    const hasOther = async (): Promise<boolean> => (this.#shown ?? (await this.#read())) !== undefined;
    const frames = open(this.#asked, context)[Symbol.asyncIterator]();
    try {
      let next = frames.next();
      if (await isSlow(next)) yield* this.file();
      for (let step = await next; step.done !== true; step = await next) {
        this.#shown = step.value;
        yield step.value;
        next = frames.next();
      }
    } finally {
      await frames.return?.();
    }
  }

  /** The one frame that the file is, where it is another than the last. */
  async *file(): AsyncGenerator<Frame> {
    const frame = await this.#read();
    if (frame === undefined) return;
    if (this.#shown?.source === "file" && this.#shown.text === frame.text) return;
    this.#shown = frame;
    yield frame;
  }

  async #read(): Promise<Frame | undefined> {
    const log = await readRunLog(this.#runs, this.#asked.node);
    return log && { node: log.node, text: log.text, truncated: log.truncated, source: "file" };
  }
}

function toFrame(tail: Pick<Frame, "node" | "text" | "truncated">): Frame {
  return { ...tail, source: "live" };
}

/** Whether nothing has come of it for too long. It may fail meanwhile, and whoever waits for it later hears of that. */
async function isSlow(work: Promise<unknown>): Promise<boolean> {
  const over = new AbortController();
  const isDone = work.then(
    () => false,
    () => false,
  );
  const isLate = delay(PATIENCE_MS, true, { signal: over.signal }).catch(() => false);
  const slow = await Promise.race([isDone, isLate]);
  over.abort();
  return slow;
}
