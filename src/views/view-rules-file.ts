import { callable, type OptionFields } from "../options/option.ts";
import { readOptions } from "../options/read-options.ts";
import { readFileSync, statSync, watch, type FSWatcher } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { SurfaceError } from "../errors.ts";
import { codeOf } from "../links/system-error.ts";
import { internalError, reportToConsole, toSafeReporter, type FaultReporter } from "../surface/fault.ts";
import { Listeners } from "../surface/listeners.ts";
import type { Source } from "../surface/source.ts";
import { unreadableRules } from "./create-views.ts";
import { readViewRules } from "./read-view-rules.ts";
import type { ViewPacket } from "./view-rules.ts";

/** How long a file that changes may go on changing before it is read, in milliseconds: a copy that is half there denies everybody. */
const settleMs = 100;

/** How often it is looked at besides, in milliseconds: not every file system tells of changes. */
const lookMs = 2000;

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

/** What a file system says of a file that is another once it was written to. */
function printOf(path: string): string | undefined {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stats && [stats.ino, stats.size, stats.mtimeNs, stats.ctimeNs].join();
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
  #watcher: FSWatcher | undefined;
  #settling: NodeJS.Timeout | undefined;
  /** Whether the file itself was named by what has changed: two writes may leave one print. */
  #isNamed = false;
  #print: string | undefined;
  /** What was read last; `undefined` where nothing could be. */
  #text: string | undefined;
  #rules: readonly ViewPacket[] = denyAll;

  constructor(path: string, report: FaultReporter) {
    this.#path = path;
    this.#report = report;
    this.#readFirst();
    // Neither keeps a process alive: rules are looked after for as long as something else serves by them.
    this.#looking = setInterval(() => this.#look(), lookMs).unref();
    this.#watch();
  }

  get(): readonly ViewPacket[] {
    return this.#rules;
  }

  subscribe(fn: (rules: readonly ViewPacket[]) => void): () => void {
    return this.#listeners.add(fn);
  }

  close(): void {
    clearInterval(this.#looking);
    clearTimeout(this.#settling);
    this.#watcher?.close();
    this.#watcher = undefined;
    this.#listeners.clear();
  }

  /** What does not fit is the author's to hear of at once; what is not there may come. */
  #readFirst(): void {
    try {
      this.#print = printOf(this.#path);
      this.#text = readTextOf(this.#path);
    } catch (cause) {
      this.#tell(toUnread(cause, this.#path));
      return;
    }
    this.#rules = parse(this.#text, this.#path);
  }

  /** Watches the folder: an editor puts another file in the place of the one that was. */
  #watch(): void {
    try {
      const watcher = watch(dirname(this.#path), { persistent: false }, (_event, name) => {
        this.#isNamed ||= name === null || name === basename(this.#path);
        this.#settling ??= setTimeout(() => this.#look(), settleMs).unref();
      });
      // It is looked at now and then besides.
      watcher.on("error", () => watcher.close());
      this.#watcher = watcher;
    } catch {
      // As above.
    }
  }

  #look(): void {
    clearTimeout(this.#settling);
    this.#settling = undefined;
    const isNamed = this.#isNamed;
    this.#isNamed = false;
    let text: string | undefined;
    try {
      const print = printOf(this.#path);
      if (!isNamed && print === this.#print) return;
      this.#print = print;
      text = readTextOf(this.#path);
      if (text === this.#text) return;
      this.#replace(text, parse(text, this.#path));
    } catch (cause) {
      // Told once: it is looked at again and again.
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
