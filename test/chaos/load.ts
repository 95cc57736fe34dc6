import { setTimeout as sleep } from "node:timers/promises";
import type { Chance } from "../sim/chance.ts";
import type { McpServerProcess, Question } from "./mcp-server-process.ts";
import { cellUris, itemUri, unwatchedKeys, watchedKeys } from "./surface.ts";
import { readDeadlineMs } from "./view.ts";

/** How many ask at the same time, each as soon as it has its answer and has thought a little. */
const callers = 100;

/** How long a caller thinks at most, in milliseconds; one that was refused thinks longer. */
const thinkMs = 20;
const refusedMs = 60;

type Sort = "watched" | "unwatched" | "look" | "read_resource" | "wait" | "mutation";

/** What each caller asks, all the time: caller 0 the first, and so on, round and round. */
const rota: readonly Sort[] = [
  "watched",
  "mutation",
  "unwatched",
  "look",
  "mutation",
  "watched",
  "unwatched",
  "mutation",
  "look",
  "unwatched",
  "wait",
  "mutation",
  "look",
  "read_resource",
];

/** What is sent so that enough is in flight when the backend is struck: nothing that the face answers by itself. */
const slowSorts: readonly Sort[] = ["mutation", "look", "mutation", "unwatched"];

type Asking = Omit<Question, "id">;

/** A hundred callers of everything that the face offers. */
export class Load {
  readonly #face: McpServerProcess;
  readonly #chance: Chance;
  readonly #askers: Readonly<Record<Sort, (id: string) => Asking>>;
  #count = 0;
  #inFlight = 0;
  #isStopped = true;
  readonly #running = new Set<Promise<unknown>>();

  constructor(face: McpServerProcess, chance: Chance) {
    this.#face = face;
    this.#chance = chance;
    const { count, status } = cellUris;
    this.#askers = {
      watched: () => this.#read(this.#pick([...watchedKeys.map(itemUri), count, status])),
      unwatched: () => this.#read(this.#pick(unwatchedKeys.map(itemUri))),
      look: () => this.#call("look", { wait_ms: chance.below(25) }),
      read_resource: () => this.#readByTool(this.#pick([...watchedKeys, ...unwatchedKeys].map(itemUri))),
      wait: () => this.#wait(),
      mutation: (id) => this.#mutate(id),
    };
  }

  /** How much is unanswered. */
  get inFlight(): number {
    return this.#inFlight;
  }

  /** Lets the callers ask until {@link stop}. */
  start(): void {
    this.#isStopped = false;
    for (let caller = 0; caller < callers; caller += 1) this.#keep(this.#repeat(rota[caller % rota.length] ?? "look"));
  }

  /** Asks once more, so often that so much is unanswered. */
  topUp(count: number): void {
    for (let more = count - this.#inFlight; more > 0; more -= 1) this.#keep(this.#ask(this.#pick(slowSorts)));
  }

  /** Asks nothing more; resolves once everything is answered, or will not be any more. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all(this.#running);
  }

  #keep(work: Promise<unknown>): void {
    this.#running.add(work);
    void work.finally(() => this.#running.delete(work));
  }

  async #repeat(sort: Sort): Promise<void> {
    while (!this.#isStopped) {
      const isOk = await this.#ask(sort);
      await sleep(this.#chance.below(isOk ? thinkMs : refusedMs));
    }
  }

  async #ask(sort: Sort): Promise<boolean> {
    this.#count += 1;
    this.#inFlight += 1;
    const id = `${sort}${this.#count}`;
    const { answers } = await this.#face.ask({ id, ...this.#askers[sort](id) });
    this.#inFlight -= 1;
    return answers[0]?.outcome === "ok";
  }

  #pick<T>(list: readonly [T, ...T[]] | readonly T[]): T {
    // No list here is empty.
    return this.#chance.pick(list) as T;
  }

  #read(uri: string): Asking {
    return { sort: "read", what: uri, deadlineMs: readDeadlineMs, method: "resources/read", params: { uri } };
  }

  #call(name: string, args: object, more: Partial<Asking> = {}): Asking {
    const params = { name, arguments: args };
    return { sort: "read", what: name, deadlineMs: readDeadlineMs, method: "tools/call", params, ...more };
  }

  #readByTool(uri: string): Asking {
    return this.#call("read_resource", { uri }, { what: uri });
  }

  #wait(): Asking {
    const waitMs = 50 + this.#chance.below(200);
    const more = { sort: "wait", deadlineMs: readDeadlineMs + waitMs } as const;
    if (this.#chance.hits(0.5)) return this.#call("rang", { timeout_ms: waitMs }, more);
    const uris = [this.#pick([...watchedKeys, ...unwatchedKeys].map(itemUri))];
    return this.#call("wait_for_change", { uris, timeout_ms: waitMs }, more);
  }

  #mutate(id: string): Asking {
    const key = this.#pick([...watchedKeys, ...unwatchedKeys]);
    // Both moments of a kill: before it is applied, and when only the answer is missing.
    const args = { id, key, before_ms: this.#chance.below(12), after_ms: this.#chance.below(20) };
    return this.#call("apply", args, { sort: "mutation" });
  }
}
