import { setTimeout as delay } from "node:timers/promises";
import type { Client } from "@modelcontextprotocol/client";
import { z } from "zod";

import type { McpSession } from "./mcp-session.ts";
import { createCounter } from "./phases.ts";
import type { Counter, Phase, Tally } from "./phases.ts";

/** What a witness has seen of one subscribed resource. */
export interface Observed {
  readonly uri: string;
  readonly notices: Tally;
  /** Whether what a read said after the last notice is what it says in the end, too. */
  readonly lastAnnounced: boolean;
}

/** What a witness has to say in the end. */
export interface Testimony {
  /** Reads by when they began. */
  readonly reads: Tally;
  /** Why reads failed, one for each that did. */
  readonly failures: readonly string[];
  readonly slowestMs: number;
  readonly observed: readonly Observed[];
}

/** Reads all the time and listens all the time, through the same face as the agent. Whoever starts it stops it. */
export interface Witness {
  /** Resolves once everything that was written before has been announced, or has not been for too long. Call it once. */
  stop(): Promise<Testimony>;
}

/** What a witness looks at, and when. */
export interface WitnessSetting {
  readonly session: McpSession;
  /** Read over and over. */
  readonly polled: readonly string[];
  /** Subscribed to, and read after each notice. */
  readonly watched: readonly string[];
  readonly phase: () => Phase;
}

const POLL_MS = 20;
/** How long a last notice may be on its way. */
const LAST_WAIT_MS = 3000;

const Anything = z.unknown();

/** Subscribes and begins to read; resolves once the server has acknowledged every subscription. */
export async function startWitness(client: Client, setting: WitnessSetting): Promise<Witness> {
  const witness = new ReadingWitness(setting);
  client.setNotificationHandler("notifications/resources/updated", ({ params }) => witness.notice(params.uri));
  const subscription = await client.listen({ resourceSubscriptions: [...setting.watched] });
  witness.begin();
  return {
    async stop() {
      const testimony = await witness.end();
      await subscription.close();
      return testimony;
    },
  };
}

/** The last that is known of a watched resource. */
interface Watched {
  readonly notices: Counter;
  /** JSON of what the newest read after a notice gave. */
  announced: string | undefined;
}

class ReadingWitness {
  readonly #setting: WitnessSetting;
  readonly #reads: Counter;
  readonly #watched: ReadonlyMap<string, Watched>;
  readonly #failures: string[] = [];
  readonly #polling: Promise<void>[] = [];
  readonly #over = new AbortController();
  #slowestMs = 0;

  constructor(setting: WitnessSetting) {
    const toWatched = (): Watched => ({ notices: createCounter(setting.phase), announced: undefined });
    this.#setting = setting;
    this.#reads = createCounter(setting.phase);
    this.#watched = new Map(setting.watched.map((uri) => [uri, toWatched()]));
  }

  begin(): void {
    for (const uri of this.#setting.polled) this.#polling.push(this.#poll(uri));
  }

  notice(uri: string): void {
    const watched = this.#watched.get(uri);
    if (!watched) return;
    watched.notices.count();
    void this.#read(uri).then((text) => (watched.announced = text));
  }

  async end(): Promise<Testimony> {
    const deadline = performance.now() + LAST_WAIT_MS;
    let observed = await this.#observe();
    while (observed.some(({ lastAnnounced }) => !lastAnnounced) && performance.now() < deadline) {
      await delay(POLL_MS);
      observed = await this.#observe();
    }
    this.#over.abort();
    await Promise.all(this.#polling);
    return { reads: this.#reads.tally(), failures: this.#failures, slowestMs: Math.round(this.#slowestMs), observed };
  }

  async #poll(uri: string): Promise<void> {
    while (!this.#over.signal.aborted) {
      await this.#read(uri);
      await delay(POLL_MS);
    }
  }

  async #read(uri: string): Promise<string | undefined> {
    const startedAt = performance.now();
    this.#reads.count();
    try {
      return JSON.stringify(await this.#setting.session.read(uri, Anything));
    } catch (error) {
      this.#failures.push(`${uri}: ${error instanceof Error ? error.message : String(error)}`);
      return undefined;
    } finally {
      this.#slowestMs = Math.max(this.#slowestMs, performance.now() - startedAt);
    }
  }

  async #observe(): Promise<readonly Observed[]> {
    return Promise.all(
      [...this.#watched].map(async ([uri, { notices, announced }]) => {
        const tally = notices.tally();
        // What has never changed needs no notice.
        const isSilent = tally.before + tally.during + tally.after === 0;
        return { uri, notices: tally, lastAnnounced: isSilent || announced === (await this.#read(uri)) };
      }),
    );
  }
}
