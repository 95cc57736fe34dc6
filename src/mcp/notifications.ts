import type { LogSink, ProgressSink } from "../call/call-context.ts";
import type { LogEntry, LogLevel, ProgressReport } from "../catalog/entry.ts";
import { clipText } from "../schema/clip-text.ts";
import { isJsonObject, type JsonObject } from "../schema/json.ts";
import { anyCodec } from "../schema/wire-codec.ts";
import {
  bytesOver,
  emptyResult,
  rpcCodes,
  toRpcError,
  toWellFormedJson,
  writeJson,
  type LogLevels,
  type RpcAnswer,
} from "./protocol.ts";
import type { Clock } from "../spine/clock.ts";

/** What is told from, in the legacy era, until the client says otherwise: what a person would want to read. */
const firstLevel: LogLevel = "info";

/** How much one line may carry, in bytes of JSON. */
const maxDataBytes = 64 * 1024;

/** How much of more than that is shown. */
const excerptBytes = 4 * 1024;

const maxLoggerBytes = 128;

const unknownLevel = toRpcError(rpcCodes.invalidParams, 'Invalid params: "level" must be the name of a log level');

/** Where the notifications of a call go. */
export interface NotificationOutput {
  readonly send: (json: string) => void;
  /** Whether notifications pile up unread. They are dropped then: nothing else would stop a handler that is faster than its client. */
  readonly isFull: () => boolean;
}

/** A report as the params of a notification, without the token that it goes under. */
export function toProgressParams({
  meta,
  ...report
}: ProgressReport): Omit<ProgressReport, "meta"> & { _meta?: JsonObject } {
  return meta === undefined ? report : { ...report, _meta: meta };
}

/** Creates the sink that sends the reports of a call as progress notifications under the token of the client. */
export function toProgressSink(progressToken: string | number, output: NotificationOutput): ProgressSink {
  return (report) => {
    if (output.isFull()) return;
    const params = { progressToken, ...toProgressParams(report) };
    output.send(writeJson({ jsonrpc: "2.0", method: "notifications/progress", params }));
  };
}

/** Any value as JSON text of at most so many bytes; what is too large, or no JSON, is replaced by what says so. */
function writeData(data: unknown): string {
  let text: string;
  try {
    text = toWellFormedJson(anyCodec.stringify(data));
  } catch {
    return '"(what was logged is no JSON)"';
  }
  const bytes = bytesOver(text, maxDataBytes);
  return bytes === undefined ? text : writeJson({ truncated: true, bytes, excerpt: clipText(text, excerptBytes) });
}

function renderEntry({ level, data, logger }: LogEntry): string {
  const by = typeof logger === "string" ? `,"logger":${writeJson(clipText(logger, maxLoggerBytes))}` : "";
  const params = `{"level":"${level}"${by},"data":${writeData(data)}}`;
  return `{"jsonrpc":"2.0","method":"notifications/message","params":${params}}`;
}

/** The log of a client up to 2025-11-25, which sets the level of its connection. */
export class ClientLog implements LogLevels {
  #level: LogLevel = firstLevel;

  /** Answers `logging/setLevel`. */
  setLevel(params: JsonObject | undefined): RpcAnswer {
    const level = isJsonObject(params) && Object.hasOwn(params, "level") ? params["level"] : undefined;
    if (!isLogLevel(level)) return unknownLevel;
    this.#level = level;
    return emptyResult;
  }

  /** Creates a sink that sends the entries of this level and above. The level may change while a call runs. */
  sinkTo(output: NotificationOutput): LogSink {
    return (entry) => sendEntry(entry, this.#level, output);
  }
}

/** Creates a sink that sends the entries of a level and above, as requests from 2026-07-28 name one. */
export function toLogSink(least: LogLevel, output: NotificationOutput): LogSink {
  return (entry) => sendEntry(entry, least, output);
}

function sendEntry(entry: LogEntry, least: LogLevel, output: NotificationOutput): void {
  if (isAtLeast(entry.level, least) && !output.isFull()) output.send(renderEntry(entry));
}

/** How much each level matters. */
const weights: ReadonlyMap<unknown, number> = new Map(
  // The order of RFC 5424, the least first.
  (["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"] satisfies LogLevel[]).map(
    (level, weight) => [level, weight],
  ),
);

/** Whether a value is one of the levels of a log. */
export function isLogLevel(value: unknown): value is LogLevel {
  return weights.has(value);
}

/** Whether `level` matters at least as much as `least`. What is no level matters to nobody. */
function isAtLeast(level: LogLevel, least: LogLevel): boolean {
  return (weights.get(level) ?? -1) >= (weights.get(least) ?? Infinity);
}

/** How long an answer stays behind what was told last, in milliseconds: a client that is not busy has read that by then. */
const apartMs = 10;

/**
 * The progress that a call tells, and how long its answer stays behind it. Clients of both SDKs drop progress that they read in
 * one piece with its answer: they take an answer at once, and what stands before it a little later.
 */
export class LastSteps {
  readonly sink: ProgressSink;
  readonly #clock: Clock;
  #isWriting = false;
  #writtenAt = Number.NEGATIVE_INFINITY;

  /** @param sink - writes what was told in a turn of the event loop at its end. */
  constructor(sink: ProgressSink, clock: Clock) {
    this.#clock = clock;
    const write: ProgressSink = (report) => {
      sink(report);
      if (this.#isWriting) return;
      this.#isWriting = true;
      // Behind what writes, which was asked for first.
      setImmediate(() => {
        this.#isWriting = false;
        this.#writtenAt = clock.now();
      });
    };
    this.sink = write;
  }

  /** Resolves when the answer may follow; `undefined`: now, since nothing was told just before. */
  get apart(): Promise<void> | undefined {
    const restMs = this.#isWriting ? apartMs : this.#writtenAt + apartMs - this.#clock.now();
    return restMs > 0 ? new Promise((resolve) => void this.#clock.after(restMs, resolve)) : undefined;
  }
}
