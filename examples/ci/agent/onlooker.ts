import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";

import { AgentBoard } from "../agent-schemas.ts";
import { Verdict } from "../pipeline-schemas.ts";
import type { BoardView } from "./describe-nodes.ts";
import { toProgressLine } from "./describe-nodes.ts";
import type { LookingClient } from "./looking-clients.ts";
import type { Printer } from "./printer.ts";

/** What somebody has seen who changed nothing. */
export interface Sight {
  readonly title: string;
  /** How often it was told that the nodes have changed. */
  readonly notices: number;
  /** How often it was told that its wait for the verdict goes on. */
  readonly progress: number;
  /** The verdicts that it was told, in order. */
  readonly verdicts: readonly string[];
  /** Whether what it read after the last notice is what there is in the end. */
  readonly lastAnnounced: boolean;
}

/** Looks on at a run. Whoever started it ends it. */
export interface Onlooker {
  readonly title: string;
  /** Waits for the verdict besides, as an agent does whose host hands on no notices. */
  follow(): void;
  /** Says what it has seen, once it has seen the end of it or waited for too long. Call it once. */
  conclude(): Promise<Sight>;
  close(): Promise<void>;
}

const Text = z.object({ text: z.string() });
const Waited = z.object({ structuredContent: z.object({ cursor: z.string(), occurrence: Verdict.optional() }) });
/** How long a last notice may be on its way. */
const LAST_WAIT_MS = 3000;
const POLL_MS = 20;
/** How long it lets be who could not be asked. */
const PAUSE_MS = 250;

/**
 * Watches the nodes through a connected client, which is closed with it.
 *
 * @throws Error when the server lists no nodes.
 */
export async function startOnlooker(client: LookingClient, printer: Printer): Promise<Onlooker> {
  const uri = await client.find("/nodes");
  if (uri === undefined) throw new Error("the server does not list the nodes");
  const onlooker = new WatchingOnlooker(client, uri, printer);
  await client.watch(uri, () => onlooker.notice());
  return onlooker;
}

class WatchingOnlooker implements Onlooker {
  readonly title: string;
  readonly #client: LookingClient;
  readonly #uri: string;
  readonly #printer: Printer;
  readonly #over = new AbortController();
  readonly #verdicts = new Map<string, string>();
  #notices = 0;
  #progress = 0;
  /** JSON of what the newest read after a notice gave. */
  #announced: string | undefined;
  #said = "";

  constructor(client: LookingClient, uri: string, printer: Printer) {
    this.title = client.title;
    this.#client = client;
    this.#uri = uri;
    this.#printer = printer;
  }

  notice(): void {
    this.#notices += 1;
    void this.#look();
  }

  follow(): void {
    void this.#follow();
  }

  async conclude(): Promise<Sight> {
    this.#over.abort();
    const endAt = performance.now() + LAST_WAIT_MS;
    let lastAnnounced = false;
    while (!lastAnnounced && performance.now() < endAt) {
      lastAnnounced = this.#announced !== undefined && this.#announced === JSON.stringify(await this.#read());
      if (!lastAnnounced) await delay(POLL_MS);
    }
    const { title } = this;
    const verdicts = [...this.#verdicts.values()];
    return { title, notices: this.#notices, progress: this.#progress, verdicts, lastAnnounced };
  }

  async close(): Promise<void> {
    this.#over.abort();
    await this.#client.close();
  }

  /** Shows what it reads when that says more than how far a run has come. */
  async #look(): Promise<void> {
    const board = await this.#read();
    if (board === undefined) return;
    this.#announced = JSON.stringify(board);
    const { run, active, red } = board;
    if (run === 0) return;
    const said = `run ${run} ${red ? "is red" : active ? "goes on" : "has ended"}`;
    if (said === this.#said) return;
    this.#said = said;
    const { paint } = this.#printer;
    const told = `${paint("busy", "told of a change")}, reads that ${said}: ${toProgressLine(board.nodes)}`;
    this.#printer.step(paint("dim", this.title), [`  ${told}`]);
  }

  /** Nothing where the coordinator is away, and there is nothing that could stand for it: the next notice says more. */
  async #read(): Promise<BoardView | undefined> {
    try {
      return AgentBoard.parse(JSON.parse(Text.parse(await this.#client.read(this.#uri)).text));
    } catch {
      return undefined;
    }
  }

  async #follow(): Promise<void> {
    const { signal } = this.#over;
    const onprogress = (): void => void (this.#progress += 1);
    let since: string | undefined;
    while (!signal.aborted) {
      const args = since === undefined ? {} : { since };
      // One for each: clients do not take back what they have a signal tell them.
      const own = AbortSignal.any([signal]);
      const answer = await this.#client.wait({ name: "settled", args, signal: own, onprogress }).catch(() => undefined);
      const waited = Waited.safeParse(answer).data?.structuredContent;
      if (waited === undefined) await delay(PAUSE_MS, undefined, { signal }).catch(() => {});
      else if (waited.occurrence !== undefined) this.#tell(waited.occurrence);
      since = waited?.cursor ?? since;
    }
  }

  /** What another life of the coordinator has told is told again by the next one. */
  #tell({ run, number, verdict, at }: z.output<typeof Verdict>): void {
    const said = `run ${run} is ${verdict} (${at})`;
    const key = `${run}.${number}`;
    if (!this.#verdicts.has(key)) this.#verdicts.set(key, said);
  }
}
