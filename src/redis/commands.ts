import { createHash } from "node:crypto";
import { codeOf, SurfaceError } from "../errors.ts";
import type { ClientAdapter } from "./client-adapter.ts";

/** Milliseconds until a command counts as unanswered. */
const timeoutMs = 1000;
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

/** A script in Lua. */
export interface Script {
  readonly text: string;
  /** The name by which Redis finds a script that it has. */
  readonly sha: string;
  /** Whether it runs under the prefix of another app, too. */
  readonly isForAll: boolean;
}

/** Names a script. */
export function toScript(text: string, isForAll = false): Script {
  return { text, sha: createHash("sha1").update(text).digest("hex"), isForAll };
}

/** Sends commands over the author's client, each bounded in time, and none into a queue that waits for a connection. */
export class Commands {
  /** Whether the prefix belongs to another app: all commands are refused, except scripts for all. */
  isForeign = false;
  readonly prefix: string;
  readonly #client: ClientAdapter;
  readonly #onTrouble: OnTrouble;
  #unanswered = 0;

  constructor(client: ClientAdapter, prefix: string, onTrouble: OnTrouble) {
    this.#client = client;
    this.prefix = prefix;
    this.#onTrouble = onTrouble;
  }

  /** Whether a command would be sent: the client is connected, and each command that timed out was answered since. */
  get isReachable(): boolean {
    return this.#client.isReady() && this.#unanswered === 0 && !this.isForeign;
  }

  /** Returns the key in Redis. JSON has an escape for each character that UTF-8 has not. */
  key(kind: string, name: string): string {
    return `${this.prefix}:${kind}:${JSON.stringify(name).slice(1, -1)}`;
  }

  /** Runs a command. Rejects with `UNAVAILABLE`. */
  run(...args: string[]): Promise<unknown> {
    return this.#run(() => this.#client.send(args));
  }

  /** Runs a script, and sends its text if Redis does not have it. Rejects with `UNAVAILABLE`. */
  eval({ text, sha, isForAll }: Script, keys: readonly string[], args: readonly string[]): Promise<unknown> {
    const rest = [String(keys.length), ...keys, ...args];
    const sendText = (cause: unknown): Promise<unknown> =>
      cause instanceof Error && cause.message.startsWith("NOSCRIPT")
        ? this.#client.send(["EVAL", text, ...rest])
        : Promise.reject(cause);
    return this.#run(() => this.#client.send(["EVALSHA", sha, ...rest]).catch(sendText), isForAll);
  }

  async #run(send: () => Promise<unknown>, isForAll = false): Promise<unknown> {
    if (this.isForeign && !isForAll) throw unavailable("foreign");
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
      let late: NodeJS.Immediate | undefined;
      let isLate = false;
      const end = (): void => {
        isLate = true;
        this.#unanswered++;
        const problem = `Redis did not answer within ${timeoutMs} ms; try again later`;
        reject(new SurfaceError("TIMEOUT", `Cannot run a command: ${problem}`));
      };
      // After a pause of this process the answer may have arrived: Node reads it before it runs the immediate.
      const timer = setTimeout(() => (late = setImmediate(end)), timeoutMs);
      // The client settles the reply when the connection is lost, or made again.
      const settle = (): void => {
        clearTimeout(timer);
        clearImmediate(late);
        if (isLate) this.#unanswered--;
      };
      reply.finally(settle).then(resolve, reject);
    });
  }
}
