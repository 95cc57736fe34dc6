import { createHash } from "node:crypto";
import { resolve } from "node:path";
import type { Writable } from "node:stream";
import { SurfaceError } from "../errors.ts";
import type { WorkStart } from "../observe/observation.ts";
import type { Observer } from "../observe/observers.ts";
import { redactSecrets, type Redactor } from "../observe/redact-secrets.ts";
import { isFunction } from "../options/is-object.ts";
import {
  callable,
  filledText,
  objectWithMethods,
  oneOf,
  option,
  wholeNumber,
  withDefault,
  type OptionFields,
} from "../options/option.ts";
import { invalidOption, readOptions } from "../options/read-options.ts";
import { canonicalText, type JsonValue } from "../schema/json.ts";
import { createReporter, type FaultReporter } from "../surface/fault.ts";
import { AuditFile } from "./audit-file.ts";
import { AuditStream } from "./audit-stream.ts";
import { AuditWriter } from "./audit-writer.ts";
import { maxLineBytes } from "./chain.ts";
import { isRecordedAtStart, toRecord } from "./to-record.ts";

/** Options of {@link auditLog}. Give either `path` or `stream`. */
export interface AuditLogOptions {
  /** The file. Created with mode 0600, its folder with 0700. One process may write it at a time. */
  readonly path?: string;
  /** A stream, which receives the lines instead of a file. You end it. */
  readonly stream?: Writable;
  /**
   * `best-effort`: calls never wait, and records that do not fit into the queue are counted. `required`: a request runs only if it can be
   * recorded, and a call that may change something waits until its start is written. @default "best-effort"
   */
  readonly mode?: "best-effort" | "required";
  /**
   * Records arguments: as a redactor returns them, or as the SHA-256 of what {@link redactSecrets} returns. @default not recorded
   */
  readonly values?: Redactor | "digest";
  /** Bytes of a file, at least 65,536. A line that does not fit begins a new file. @default 67_108_864 */
  readonly maxBytes?: number;
  /** Number of full files to keep, as `path.1` (the newest), `path.2` and so on. Older ones are deleted. @default 16 */
  readonly maxFiles?: number;
  /** Bytes of records that wait to be written, at least 65,536. @default 8_388_608 */
  readonly maxQueueBytes?: number;
  /** Receives the first of several failures to write in a row. @default the console's error stream */
  readonly onFault?: FaultReporter;
}

/** An observer that writes an audit log. */
export interface AuditLog extends Observer {
  /** Resolves when the records so far are written. Rejects with `UNAVAILABLE` if the file or stream cannot be written. */
  flush(): Promise<void>;
  /** Writes the remaining records and closes the file. Rejects with `UNAVAILABLE` if it cannot be written. Idempotent. */
  close(): Promise<void>;
}

const fields = {
  path: filledText,
  stream: objectWithMethods(["write", "on"], "a writable stream"),
  mode: withDefault(oneOf("best-effort", "required"), "best-effort"),
  values: option('a redactor, or "digest"', (value) => isFunction(value) || value === "digest"),
  maxBytes: withDefault(wholeNumber(maxLineBytes), 64 * 1024 * 1024),
  maxFiles: withDefault(wholeNumber(1, 10_000), 16),
  maxQueueBytes: withDefault(wholeNumber(maxLineBytes), 8 * 1024 * 1024),
  onFault: callable,
} satisfies OptionFields<AuditLogOptions>;

/** Creates the redactor that replaces arguments by a digest. The digest is of redacted ones: it must not help to guess a secret. */
function createDigest(): Redactor {
  const redact = redactSecrets();
  const digest = (value: JsonValue): string => createHash("sha256").update(canonicalText(value)).digest("hex");
  return (value, schema) => ({ sha256: digest(redact(value, schema)) });
}

/**
 * Creates an observer that writes one JSON line for each record, chained by SHA-256. Opens the file at once. The creator calls `close()`;
 * without it, the rest is written when the process exits. `npx surface-mcp audit verify FILE` checks the file.
 *
 * @example
 * ```ts
 * import { auditLog } from "surface-mcp/audit";
 *
 * const audit = auditLog({ path: "/var/log/shop/audit.jsonl" });
 * app.observe(audit);
 * ```
 * @throws SurfaceError `INVALID_OPTION`, also if the file cannot be opened, or is not an audit log.
 */
export function auditLog(options: AuditLogOptions): AuditLog {
  const doing = "Cannot create an audit log";
  const { path, stream, mode, values, maxBytes, maxFiles, maxQueueBytes, onFault } = readOptions(
    options,
    fields,
    doing,
  );
  const report = createReporter({ onFault });
  if ((path === undefined) === (stream === undefined)) throw invalidOption(doing, 'give either "path" or "stream"');
  const target =
    stream === undefined ? new AuditFile({ path: resolve(path ?? ""), maxBytes, maxFiles }) : new AuditStream(stream);
  const writer = new AuditWriter({ target, maxQueueBytes, report });
  return {
    ...(values === undefined ? {} : { values: values === "digest" ? createDigest() : values }),
    ...(mode === "required" ? createRequired(writer) : createBestEffort(writer)),
    flush: () => writer.flush(),
    close: () => writer.close(),
  };
}

function createBestEffort(writer: AuditWriter): Observer {
  return {
    record(observation) {
      const isStart = observation.type === "request-start" || observation.type === "call-start";
      if (!isStart || isRecordedAtStart(observation)) writer.add(toRecord(observation));
    },
  };
}

function createRequired(writer: AuditWriter): Observer {
  return {
    record(observation) {
      if (observation.type === "request-start" || observation.type === "call-start") return;
      // The end of work that ran belongs into the log in any case. The number of such records is bounded: no more work begins.
      const isExempt = "outcome" in observation && observation.outcome !== "refused";
      writer.add(toRecord(observation), isExempt);
    },
    before(start: WorkStart): void | Promise<void> {
      const isRecorded = writer.isReady && (!isRecordedAtStart(start) || writer.add(toRecord(start)));
      if (!isRecorded)
        throw new SurfaceError("UNAVAILABLE", "Cannot run a request: it cannot be recorded in the audit log");
      return start.operation?.mutates === true ? writer.flush() : undefined;
    },
  };
}
