import type { McpServerProcess } from "./mcp-server-process.ts";
import type { Answer, Ring } from "./history.ts";
import { cellUris, type Stamp } from "./surface.ts";
import { readDeadlineMs, readResource, View } from "./view.ts";

/** How long each wait lasts. */
const waitMs = 150;

interface Waited {
  readonly cursor?: string;
  readonly status?: string;
  readonly occurrence?: Stamp;
  readonly missed?: number;
  readonly reset?: boolean;
}

/** Calls a tool that waits, again and again, each time with the cursor of the answer before. */
abstract class Follower {
  readonly #face: McpServerProcess;
  readonly #name: string;
  readonly #args: object;
  #calls = 0;
  #cursor: string | undefined;
  #running: Promise<void> | undefined;
  #isStopped = true;

  constructor(face: McpServerProcess, name: string, args: object) {
    this.#face = face;
    this.#name = name;
    this.#args = args;
  }

  /** Told of each answer. */
  protected abstract hear(waited: Waited, answer: Answer): void;

  /** Waits until {@link stop}. */
  start(): void {
    this.#isStopped = false;
    this.#running ??= this.#run();
  }

  /** Resolves once the last wait is answered. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#running;
    this.#running = undefined;
  }

  async #run(): Promise<void> {
    while (!this.#isStopped) await this.#wait();
  }

  async #wait(): Promise<void> {
    this.#calls += 1;
    const name = this.#name;
    const since = this.#cursor === undefined ? {} : { since: this.#cursor };
    const { answers } = await this.#face.ask({
      id: `${name}${this.#calls}`,
      sort: "wait",
      what: name,
      deadlineMs: readDeadlineMs + waitMs,
      method: "tools/call",
      params: { name, arguments: { ...this.#args, ...since, timeout_ms: waitMs } },
    });
    const [answer] = answers;
    // One that failed is found by whoever judges the waits; it is not asked again at once.
    if (answer?.outcome !== "ok") return void (await new Promise((resolve) => setTimeout(resolve, waitMs)));
    // The tool's output schema says what is in it.
    const waited = answer.result?.["structuredContent"] as Waited;
    this.#cursor = waited.cursor;
    this.hear(waited, answer);
  }
}

/** Waits for one ring after the other. */
export class RingFollower extends Follower {
  #rings: Ring[] = [];

  constructor(face: McpServerProcess) {
    super(face, "rang", {});
  }

  protected override hear({ occurrence, missed = 0, reset = false }: Waited, { at }: Answer): void {
    this.#rings.push({ at, rung: occurrence, missed, isReset: reset });
  }

  /** What it was told since this was last taken. */
  take(): readonly Ring[] {
    const taken = this.#rings;
    this.#rings = [];
    return taken;
  }
}

/** Follows a cell as an agent would that never sees a notice: by waiting for its change, and reading it then. */
export class ChangeFollower extends Follower {
  readonly view: View;

  constructor(face: McpServerProcess) {
    const uri = cellUris.status;
    super(face, "wait_for_change", { uris: [uri] });
    this.view = new View(`wait_for_change ${uri}`, uri, () => readResource(face, uri));
  }

  protected override hear({ status, reset = false }: Waited): void {
    if (status === "changed" || reset) this.view.announce();
  }
}
