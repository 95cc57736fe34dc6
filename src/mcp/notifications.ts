import type { LogSink, ProgressSink } from "../call/call-context.ts";
import type { LogEntry, LogLevel, ProgressReport } from "../catalog/entry.ts";
import { clipText } from "../schema/visible-text.ts";
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

/** The level of a client that sets none: entries for people. */
const firstLevel: LogLevel = "info";

/** The maximum size of the data of an entry, in bytes of JSON. */
const maxDataBytes = 64 * 1024;

/** Bytes that are shown of larger data. */
const excerptBytes = 4 * 1024;

const maxLoggerBytes = 128;

const unknownLevel = toRpcError(rpcCodes.invalidParams, 'Invalid params: "level" must be the name of a log level');

/** Sends the notifications of a call. */
export interface NotificationOutput {
  readonly send: (json: string) => void;
  /** Returns whether notifications pile up unread. Further ones are dropped: nothing else stops a handler that is faster than its client. */
  readonly isFull: () => boolean;
}

/** Returns a report as the params of a notification, without the progress token. */
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

/** Writes any value as bounded JSON. Replaces a value that is too large or cannot be written by a note. */
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
  /** The lowest level that the client receives. */
  level: LogLevel = firstLevel;
  readonly #onLevel: ((level: LogLevel) => void) | undefined;

  /** @param onLevel - called when the client has set a level. */
  constructor(onLevel?: (level: LogLevel) => void) {
    this.#onLevel = onLevel;
  }

  /** Answers `logging/setLevel`. */
  setLevel(params: JsonObject | undefined): RpcAnswer {
    const level = isJsonObject(params) && Object.hasOwn(params, "level") ? params["level"] : undefined;
    if (!isLogLevel(level)) return unknownLevel;
    this.level = level;
    this.#onLevel?.(level);
    return emptyResult;
  }

  /** Creates a sink that sends the entries of this level and above. The level may change while a call runs. */
  sinkTo(output: NotificationOutput): LogSink {
    return (entry) => sendEntry(entry, this.level, output);
  }
}

/** Creates a sink that sends the entries of a level and above, as requests from 2026-07-28 name one. */
export function toLogSink(least: LogLevel, output: NotificationOutput): LogSink {
  return (entry) => sendEntry(entry, least, output);
}

function sendEntry(entry: LogEntry, least: LogLevel, output: NotificationOutput): void {
  if (isAtLeast(entry.level, least) && !output.isFull()) output.send(renderEntry(entry));
}

/** The weight of each level. */
const weights: ReadonlyMap<unknown, number> = new Map(
  // The order of RFC 5424, the least first.
  (["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"] satisfies LogLevel[]).map(
    (level, weight) => [level, weight],
  ),
);

/** Returns whether a value is a log level. */
export function isLogLevel(value: unknown): value is LogLevel {
  return weights.has(value);
}

/** Returns whether `level` is `least` or above it; `false` for an unknown level. */
function isAtLeast(level: LogLevel, least: LogLevel): boolean {
  return (weights.get(level) ?? -1) >= (weights.get(least) ?? Infinity);
}

/** Milliseconds between the last progress and the answer: a client that is not busy has read the progress by then. */
const apartMs = 10;

/**
 * Sends the progress of a call, and delays its answer. Clients of both SDKs drop progress that they read in one piece with the answer:
 * they handle an answer at once, and notifications before it a little later.
 */
export class LastSteps {
  readonly sink: ProgressSink;
  readonly #clock: Clock;
  #isWriting = false;
  #writtenAt = Number.NEGATIVE_INFINITY;

  /** @param sink - writes the reports of a turn of the event loop at its end. */
  constructor(sink: ProgressSink, clock: Clock) {
    this.#clock = clock;
    const write: ProgressSink = (report) => {
      sink(report);
      if (this.#isWriting) return;
      this.#isWriting = true;
      // Runs after the immediate of the writer, which was scheduled first.
      setImmediate(() => {
        this.#isWriting = false;
        this.#writtenAt = clock.now();
      });
    };
    this.sink = write;
  }

  /** Resolves when the answer may follow; `undefined` if there was no progress just before. */
  get apart(): Promise<void> | undefined {
    const restMs = this.#isWriting ? apartMs : this.#writtenAt + apartMs - this.#clock.now();
    return restMs > 0 ? new Promise((resolve) => void this.#clock.after(restMs, resolve)) : undefined;
  }
}
