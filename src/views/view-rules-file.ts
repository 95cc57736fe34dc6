import { readFileSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { codeOf, SurfaceError } from "../errors.ts";
import { callable, type OptionFields } from "../options/option.ts";
import { readOptions } from "../options/read-options.ts";
import { internalError, reportToConsole, toSafeReporter, type FaultReporter } from "../surface/fault.ts";
import { Listeners } from "../surface/listeners.ts";
import type { Source } from "../surface/source.ts";
import { readViewRules } from "./read-view-rules.ts";
import type { ViewPacket } from "./view-rules.ts";
import { unreadableRules } from "./views.ts";

/** Milliseconds between two checks of the file. Polling also notices that a folder was replaced. */
const pollMs = 250;

const maxBytes = 4 * 1024 * 1024;

/** Options of {@link viewRulesFile}. */
export interface ViewRulesFileOptions {
  /** Receives the reason why the file could not be read. @default the console's error stream */
  readonly onFault?: FaultReporter;
}

/** The current rules of a file. Call `close()` when done. */
export interface ViewRulesFile extends Source<readonly ViewPacket[]> {
  /** Stops polling. The rules stay as they are. Callable twice. */
  close(): void;
}

const denyAll: readonly ViewPacket[] = /* @__PURE__ */ readViewRules([
  { id: "unreadable", verdict: { kind: "deny", reason: unreadableRules } },
]);

/** Returns a text that changes when the file is written to; the error code without a file. */
function fingerprintOf(path: string): string {
  try {
    const { ino, size, mtimeNs, ctimeNs } = statSync(path, { bigint: true });
    return [ino, size, mtimeNs, ctimeNs].join();
  } catch (cause) {
    return codeOf(cause);
  }
}

/** Reads the file. @throws errors of the file system; SurfaceError if the path is not a file, or the file is too large. */
function readTextOf(path: string): string {
  const stats = statSync(path);
  // Opening a pipe would wait for its writer.
  if (!stats.isFile() || stats.size > maxBytes) {
    throw new SurfaceError(
      "INVALID_OPTION",
      `Cannot read view rules: "${path}" must be a file of at most ${maxBytes} bytes`,
    );
  }
  return new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(path));
}

function parse(text: string, path: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new SurfaceError("INVALID_OPTION", `Cannot read view rules: "${path}" is not JSON; correct it`, { cause });
  }
}

/** Returns the error for the log. */
function toReadError(cause: unknown, path: string): unknown {
  if (cause instanceof SurfaceError) return cause;
  const code = codeOf(cause);
  const problem = code === "ENOENT" ? "does not exist" : `is not readable as UTF-8${code === "" ? "" : ` (${code})`}`;
  const message = `Cannot read view rules: "${path}" ${problem}; every view is denied until it is readable`;
  return new SurfaceError("INVALID_OPTION", message, { cause });
}

class WatchedRules implements ViewRulesFile {
  readonly #path: string;
  readonly #report: FaultReporter;
  readonly #listeners = new Listeners<readonly ViewPacket[]>();
  readonly #polling: NodeJS.Timeout;
  /** The fingerprint at the last check. */
  #seen: string | undefined;
  /** The fingerprint when the file was read last. */
  #known: string | undefined;
  #text: string | undefined;
  #rules: readonly ViewPacket[] = denyAll;

  constructor(path: string, report: FaultReporter) {
    this.#path = path;
    this.#report = report;
    this.#readFirst();
    // Does not keep the process alive.
    this.#polling = setInterval(() => this.#poll(), pollMs).unref();
  }

  get(): readonly ViewPacket[] {
    return this.#rules;
  }

  subscribe(fn: (rules: readonly ViewPacket[]) => void): () => void {
    return this.#listeners.add(fn);
  }

  close(): void {
    clearInterval(this.#polling);
    this.#listeners.clear();
  }

  /** Throws for malformed rules, but not for a missing file, which may be created later. */
  #readFirst(): void {
    try {
      this.#text = readTextOf(this.#path);
    } catch (cause) {
      return this.#reportFault(toReadError(cause, this.#path));
    }
    this.#rules = readViewRules(parse(this.#text, this.#path));
  }

  #poll(): void {
    const now = fingerprintOf(this.#path);
    const isSettled = now === this.#seen;
    this.#seen = now;
    // To read a file while it is written would deny every view, so it is read after two equal checks.
    if (!isSettled || now === this.#known) return;
    this.#known = now;
    let text: string | undefined;
    try {
      text = readTextOf(this.#path);
      if (text === this.#text) return;
      this.#replace(text, readViewRules(parse(text, this.#path)));
    } catch (cause) {
      if (text === this.#text) return;
      this.#reportFault(toReadError(cause, this.#path));
      this.#replace(text, denyAll);
    }
  }

  #replace(text: string | undefined, rules: readonly ViewPacket[]): void {
    this.#text = text;
    this.#rules = rules;
    this.#listeners.tell(rules, (cause) => this.#reportFault(cause));
  }

  #reportFault(cause: unknown): void {
    internalError(cause, "reading the file of view rules", this.#report);
  }
}

const fields: OptionFields<ViewRulesFileOptions> = { onFault: callable };

/**
 * Creates a source of view rules from a JSON file, which it reads at once and follows: changes apply within a second, also to
 * connected clients. While the file is missing or malformed, every view is denied.
 *
 * @throws SurfaceError `INVALID_OPTION` if the file exists and its rules are malformed, naming packet, rule and field.
 */
export function viewRulesFile(path: string, options: ViewRulesFileOptions = {}): ViewRulesFile {
  const { onFault = reportToConsole } = readOptions(options, fields, "Cannot read a file of view rules");
  return new WatchedRules(resolve(path), toSafeReporter(onFault));
}
