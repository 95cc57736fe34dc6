import { callable, type OptionFields } from "../options/option.ts";
import { readOptions } from "../options/read-options.ts";
import { readFileSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { SurfaceError } from "../errors.ts";
import { codeOf } from "../links/system-error.ts";
import { internalError, reportToConsole, toSafeReporter, type FaultReporter } from "../surface/fault.ts";
import { Listeners } from "../surface/listeners.ts";
import type { Source } from "../surface/source.ts";
import { unreadableRules } from "./views.ts";
import { readViewRules } from "./read-view-rules.ts";
import type { ViewPacket } from "./view-rules.ts";

/** Milliseconds between two looks at the file. Polling also finds a folder that was put in the place of another. */
const lookMs = 250;

const maxBytes = 4 * 1024 * 1024;

/** What {@link viewRulesFile} may be told. */
export interface ViewRulesFileOptions {
  /** Told why the file could not be read. Default: the console's error stream. */
  readonly onFault?: FaultReporter;
}

/** Rules that are in a file, as they are now. Whoever made it closes it. */
export interface ViewRulesFile extends Source<readonly ViewPacket[]> {
  /** Stops looking at the file. The rules stay as they are. Callable twice. */
  close(): void;
}

/** In the place of rules that cannot be had. */
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

/** What is in the file. @throws whatever the file system does, and where it is no text of a bounded size. */
function readTextOf(path: string): string {
  const stats = statSync(path);
  // Opening a pipe would wait for whoever writes to it.
  if (!stats.isFile() || stats.size > maxBytes) {
    throw new SurfaceError(
      "INVALID_OPTION",
      `Reading view rules: "${path}" must be a file of at most ${maxBytes} bytes`,
    );
  }
  return new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(path));
}

function parse(text: string, path: string): readonly ViewPacket[] {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    throw new SurfaceError("INVALID_OPTION", `Reading view rules: "${path}" must be JSON, and is none`, { cause });
  }
  return readViewRules(json);
}

/** What the log is told of a file that could not be read; what it holds that does not fit says so itself. */
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
  /** The fingerprint of the last look. */
  #seen: string | undefined;
  /** The fingerprint when the file was read last. */
  #known: string | undefined;
  /** The text that was read last; `undefined` if the file could not be read. */
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

  /** Rules that do not fit are the author's to hear of at once; a file that is missing may come. */
  #readFirst(): void {
    try {
      this.#text = readTextOf(this.#path);
    } catch (cause) {
      this.#tell(toUnread(cause, this.#path));
      return;
    }
    this.#rules = parse(this.#text, this.#path);
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
      this.#replace(text, parse(text, this.#path));
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
