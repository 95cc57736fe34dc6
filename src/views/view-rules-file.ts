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

/** Milliseconds between two looks at the file. Polling also finds a folder that was put in the place of another. */
const lookMs = 250;

const maxBytes = 4 * 1024 * 1024;

/** Options of {@link viewRulesFile}. */
export interface ViewRulesFileOptions {
  /** Receives the reason why the file could not be read. @default the console's error stream */
  readonly onFault?: FaultReporter;
}

/** The rules of a file, as they are now. Call `close()` when done. */
export interface ViewRulesFile extends Source<readonly ViewPacket[]> {
  /** Stops looking at the file. The rules stay as they are. Callable twice. */
  close(): void;
}

const denyAll: readonly ViewPacket[] = /* @__PURE__ */ readViewRules([
  { id: "unreadable", verdict: { kind: "deny", reason: unreadableRules } },
]);

/** Returns a text that is another once the file was written to; the code of the error if there is none. */
function fingerprintOf(path: string): string {
  try {
    const { ino, size, mtimeNs, ctimeNs } = statSync(path, { bigint: true });
    return [ino, size, mtimeNs, ctimeNs].join();
  } catch (cause) {
    return codeOf(cause);
  }
}

/** @throws the errors of the file system, and `SurfaceError` for a file that is too large or not a file. */
function readTextOf(path: string): string {
  const stats = statSync(path);
  // Opening a pipe would wait for its writer.
  if (!stats.isFile() || stats.size > maxBytes) {
    throw new SurfaceError(
      "INVALID_OPTION",
      `Reading view rules: "${path}" must be a file of at most ${maxBytes} bytes`,
    );
  }
  return new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(path));
}

function parse(text: string, path: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new SurfaceError("INVALID_OPTION", `Reading view rules: "${path}" must be JSON, and is none`, { cause });
  }
}

/** Returns the error for the log. Rules that do not fit have one of their own. */
function toUnread(cause: unknown, path: string): unknown {
  if (cause instanceof SurfaceError) return cause;
  const code = codeOf(cause);
  const problem = code === "ENOENT" ? "and there is none" : `and cannot be read${code === "" ? "" : ` (${code})`}`;
  const message = `Reading view rules: "${path}" must be a file of UTF-8 text, ${problem}: nobody gets in until it is`;
  return new SurfaceError("INVALID_OPTION", message, { cause });
}

class WatchedRules implements ViewRulesFile {
  readonly #path: string;
  readonly #report: FaultReporter;
  readonly #listeners = new Listeners<readonly ViewPacket[]>();
  readonly #looking: NodeJS.Timeout;
  #seen: string | undefined;
  /** The fingerprint when the file was read last. */
  #known: string | undefined;
  #text: string | undefined;
  #rules: readonly ViewPacket[] = denyAll;

  constructor(path: string, report: FaultReporter) {
    this.#path = path;
    this.#report = report;
    this.#readFirst();
    // Does not keep a process alive that serves nothing.
    this.#looking = setInterval(() => this.#look(), lookMs).unref();
  }

  get(): readonly ViewPacket[] {
    return this.#rules;
  }

  subscribe(fn: (rules: readonly ViewPacket[]) => void): () => void {
    return this.#listeners.add(fn);
  }

  close(): void {
    clearInterval(this.#looking);
    this.#listeners.clear();
  }

  /** Throws for rules that do not fit, which the author hears of at once. A file that is missing may come. */
  #readFirst(): void {
    try {
      this.#text = readTextOf(this.#path);
    } catch (cause) {
      return this.#tell(toUnread(cause, this.#path));
    }
    this.#rules = readViewRules(parse(this.#text, this.#path));
  }

  #look(): void {
    const now = fingerprintOf(this.#path);
    const isSettled = now === this.#seen;
    this.#seen = now;
    // A file that is still written to would deny everyone: it is read when two looks found the same.
    if (!isSettled || now === this.#known) return;
    this.#known = now;
    let text: string | undefined;
    try {
      text = readTextOf(this.#path);
      if (text === this.#text) return;
      this.#replace(text, readViewRules(parse(text, this.#path)));
    } catch (cause) {
      if (text === this.#text) return;
      this.#tell(toUnread(cause, this.#path));
      this.#replace(text, denyAll);
    }
  }

  #replace(text: string | undefined, rules: readonly ViewPacket[]): void {
    this.#text = text;
    this.#rules = rules;
    this.#listeners.tell(rules, (cause) => this.#tell(cause));
  }

  #tell(cause: unknown): void {
    internalError(cause, "reading the file of view rules", this.#report);
  }
}

const fields: OptionFields<ViewRulesFileOptions> = { onFault: callable };

/**
 * The rules that are in a JSON file, as a source that follows the file: what is written there holds shortly after, for whoever is
 * connected too. While it is gone, or holds what does not fit, nobody gets in. It is read at once, synchronously.
 *
 * @throws SurfaceError `INVALID_OPTION` where the file is there and its rules do not fit, naming packet, rule and field.
 */
export function viewRulesFile(path: string, options: ViewRulesFileOptions = {}): ViewRulesFile {
  const { onFault = reportToConsole } = readOptions(options, fields, "Reading a file of view rules");
  return new WatchedRules(resolve(path), toSafeReporter(onFault));
}
