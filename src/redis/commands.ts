import { createHash } from "node:crypto";
import { codeOf, SurfaceError } from "../errors.ts";
import type { ClientAdapter } from "./client-adapter.ts";

/** Milliseconds until a command counts as unanswered. */
const timeoutMs = 1000;
/** Characters of a key that is not hashed. */
const maxKeyLength = 200;
/** Begins a stored text that UTF-8 would not keep: its JSON follows. */
const escape = "\u0000json:";

/** The kinds of trouble that are reported. */
export type Trouble = "away" | "deaf" | "full" | "garbage" | "foreign";

/** Receives the trouble that a command met. */
export type OnTrouble = (trouble: Trouble, cause: unknown) => void;

const sentences: Readonly<Record<Trouble, string>> = {
  away: "it is not connected, or did not answer within a second; try again later",
  deaf: "its subscriber receives nothing, so changes on other replicas are seen late; allow the client to subscribe",
  full: 'it is full; raise its "maxmemory"',
  garbage: "it refused the command, or another program wrote to a key; see the cause in the log",
  foreign: 'its prefix belongs to another app; pass another "prefix" to redis()',
};

/** Creates the error of a command that failed. */
export function unavailable(trouble: Trouble, cause?: unknown): SurfaceError {
  return new SurfaceError("UNAVAILABLE", `Cannot use the shared store: ${sentences[trouble]}`, { cause });
}

/** Creates the error of a server that starts without Redis. @param cause - of the last attempt to connect, if the client reported one. */
export function unreachable(cause: unknown): SurfaceError {
  const code = codeOf(cause);
  const problem = code === "" ? "it did not connect or answer in time" : code;
  return new SurfaceError("UNAVAILABLE", `Cannot reach Redis: ${problem}; is it running?`, { cause });
}

function troubleOf(cause: unknown): Trouble {
  // A reply of Redis that is an error begins with its code.
  const text = cause instanceof Error ? cause.message : "";
  if (/^OOM |^MISCONF /.test(text)) return "full";
  return /^[A-Z]{2,} /.test(text) && !/^(?:LOADING|READONLY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|BUSY) /.test(text)
    ? "garbage"
    : "away";
}

/** Returns false for a text with half of a surrogate pair, which UTF-8 cannot express. */
function isWellFormed(text: string): boolean {
  return !/\p{Surrogate}/u.test(text);
}

/** Returns the stored form of a text. It is the text, unless UTF-8 would lose a part of it. */
export function toStored(text: string): string {
  return isWellFormed(text) && !text.startsWith(escape) ? text : escape + JSON.stringify(text);
}

/** Returns the text of a stored form, or of a value of another program. */
export function fromStored(stored: string): string {
  if (!stored.startsWith(escape)) return stored;
  try {
    return String(JSON.parse(stored.slice(escape.length)));
  } catch {
    return stored;
  }
}

/** A script in Lua. */
export interface Script {
  readonly text: string;
  /** The name by which Redis finds a script that it has. */
  readonly sha: string;
}

/** Names a script. */
export function toScript(text: string): Script {
  return { text, sha: createHash("sha1").update(text).digest("hex") };
}

/** Sends commands over the author's client, each bounded in time, and none into a queue that waits for a connection. */
export class Commands {
  readonly prefix: string;
  readonly #client: ClientAdapter;
  readonly #onTrouble: OnTrouble;
  #isForeign = false;
  #unanswered = 0;

  constructor(client: ClientAdapter, prefix: string, onTrouble: OnTrouble) {
    this.#client = client;
    this.prefix = prefix;
    this.#onTrouble = onTrouble;
  }

  /** Whether a command would be sent: the client is connected, and each command that timed out was answered since. */
  get isReachable(): boolean {
    return this.#client.isReady() && this.#unanswered === 0 && !this.#isForeign;
  }

  /** Refuses all commands from now on, or not any longer, but those of `sendScript()`. */
  setForeign(isForeign: boolean): void {
    this.#isForeign = isForeign;
  }

  /** Returns the key in Redis. Long ones are hashed, and those that UTF-8 would not keep. */
  key(kind: string, name: string): string {
    const isPlain = name.length <= maxKeyLength && isWellFormed(name);
    return `${this.prefix}:${kind}${isPlain ? `:${name}` : `#${createHash("sha256").update(JSON.stringify(name)).digest("hex")}`}`;
  }

  /** Runs a command. Rejects with `UNAVAILABLE`. */
  async run(...args: string[]): Promise<unknown> {
    if (this.#isForeign) throw unavailable("foreign");
    return this.#run(() => this.#client.send(args));
  }

  /** Runs a script. Rejects with `UNAVAILABLE`. */
  async eval(script: Script, keys: readonly string[], args: readonly string[]): Promise<unknown> {
    if (this.#isForeign) throw unavailable("foreign");
    return this.sendScript(script, keys, args);
  }

  /** Runs a script, also under the prefix of another app. Sends its text if Redis does not have it. */
  sendScript({ text, sha }: Script, keys: readonly string[], args: readonly string[]): Promise<unknown> {
    const rest = [String(keys.length), ...keys, ...args];
    const sendText = (cause: unknown): Promise<unknown> =>
      cause instanceof Error && cause.message.startsWith("NOSCRIPT")
        ? this.#client.send(["EVAL", text, ...rest])
        : Promise.reject(cause);
    return this.#run(() => this.#client.send(["EVALSHA", sha, ...rest]).catch(sendText));
  }

  async #run(send: () => Promise<unknown>): Promise<unknown> {
    try {
      // While an earlier command has no answer, one more would wait behind it.
      if (!this.#client.isReady() || this.#unanswered > 0) throw unavailable("away");
      return await this.#bound(send());
    } catch (cause) {
      const trouble = troubleOf(cause);
      this.#onTrouble(trouble, cause);
      throw unavailable(trouble, cause);
    }
  }

  #bound(reply: Promise<unknown>): Promise<unknown> {
    return new Promise((resolve, reject) => {
      let state: "waiting" | "late" | "settled" = "waiting";
      const end = (): void => {
        if (state !== "waiting") return;
        state = "late";
        this.#unanswered++;
        reject(
          new SurfaceError(
            "TIMEOUT",
            `Cannot run a command: Redis did not answer within ${timeoutMs} ms; try again later`,
          ),
        );
      };
      // After a pause of this process the answer may have arrived: Node reads it before it runs the immediate.
      const timer = setTimeout(() => setImmediate(end), timeoutMs);
      // The client settles the reply when the connection is lost, or made again.
      const settle = (): void => {
        clearTimeout(timer);
        if (state === "late") this.#unanswered--;
        state = "settled";
      };
      reply.finally(settle).then(resolve, reject);
    });
  }
}
