import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Patch } from "../fixtures/patch-sources.ts";
import { Chance } from "../sim/chance.ts";
import { BackendProcess, type BackendSetting } from "./backend-process.ts";
import type { BackendBug } from "./backend-protocol.ts";
import { bundleProgram } from "./bundle-program.ts";
import { McpServerProcess } from "./mcp-server-process.ts";
import { ChangeFollower, RingFollower } from "./followers.ts";
import type { JournalLine } from "./history.ts";
import { Load } from "./load.ts";
import { Subscriber } from "./subscriber.ts";
import type { Way } from "./ways.ts";

/** What a run is made of. */
export interface StageSetting {
  readonly seed: number;
  /** @default "unix" */
  readonly way?: Way | undefined;
  /** A bug that the backend is told to have. */
  readonly bug?: BackendBug | undefined;
  /** Bugs that are put into the face. */
  readonly patches?: readonly Patch[] | undefined;
}

/** Below the ports that systems give to connections, so that nobody else has it while there is no backend. */
const ports = { first: 20_000, count: 10_000 };

async function findPort(): Promise<number> {
  for (;;) {
    const server = createServer();
    server.listen(ports.first + Math.floor(Math.random() * ports.count), "127.0.0.1");
    const isFree = await once(server, "listening").then(
      () => true,
      () => false,
    );
    // Its address is of this form while it listens.
    const port = isFree ? (server.address() as AddressInfo).port : 0;
    if (!isFree) continue;
    server.close();
    await once(server, "close");
    return port;
  }
}

/** The programs of a run, and how they reach each other. */
interface Programs {
  readonly face: string;
  readonly backend: string;
  readonly way: Way;
  readonly folder: string;
  readonly address: string;
}

/** The processes of a run, and everybody who talks to them. Whoever opens it closes it. */
export class Stage {
  readonly seed: number;
  readonly way: Way;
  readonly face: McpServerProcess;
  readonly load: Load;
  readonly subscriber: Subscriber;
  readonly rings: RingFollower;
  readonly changes: ChangeFollower;
  /** Decides what is done, not how long it takes: the same seed tells a similar story, and not the same. */
  readonly chance: Chance;
  /** The backend of now. */
  backend: BackendProcess;
  readonly #setting: BackendSetting;
  readonly #folder: string;
  /** The programs, made for this run. */
  readonly #scripts: readonly string[];
  #read = 0;

  private constructor(seed: number, programs: Programs, bug: BackendBug | undefined) {
    const { face, backend, way, folder, address } = programs;
    this.#folder = folder;
    this.#scripts = [face, backend];
    this.#setting = { script: backend, address, journal: join(folder, "journal"), bug };
    writeFileSync(this.#setting.journal, "");
    this.seed = seed;
    this.way = way;
    this.chance = new Chance();
    this.face = new McpServerProcess(face, [address, way]);
    this.load = new Load(this.face, this.chance);
    this.subscriber = new Subscriber(this.face);
    this.rings = new RingFollower(this.face);
    this.changes = new ChangeFollower(this.face);
    this.backend = new BackendProcess(1, this.#setting);
  }

  /** Starts both processes, and subscribes. */
  static async open({ seed, bug, patches, way = "unix" }: StageSetting): Promise<Stage> {
    const bundles = [bundleProgram("backend", "backend"), bundleProgram("face", `face-${seed}`, patches)];
    const [backend = "", face = ""] = await Promise.all(bundles);
    const folder = mkdtempSync(join(tmpdir(), "chaos-"));
    const address = way === "web" ? `ws://127.0.0.1:${await findPort()}/` : join(folder, "s.sock");
    const stage = new Stage(seed, { face, backend, way, folder, address }, bug);
    try {
      await stage.backend.listening();
      await stage.subscriber.open();
    } catch (cause) {
      await stage.close();
      throw cause;
    }
    return stage;
  }

  /** Starts the next backend: the last one is gone. */
  restart(): BackendProcess {
    this.backend = new BackendProcess(this.backend.gen + 1, this.#setting);
    return this.backend;
  }

  /** What backends have put on record since this was last asked. */
  readJournal(): readonly JournalLine[] {
    const text = readFileSync(this.#setting.journal, "utf8");
    const lines = text.slice(this.#read).trimEnd().split("\n");
    this.#read = text.length;
    return lines
      .filter((line) => line !== "")
      .map((line) => {
        const [what, id = ""] = line.split(" ");
        return { what: what === "applied" ? "applied" : "taken", id };
      });
  }

  /** Ends both processes; resolves with the code that the face has ended with. */
  async close(): Promise<number | null> {
    const code = await this.face.stop();
    this.backend.signal("SIGKILL");
    await this.backend.gone();
    for (const path of [this.#folder, ...this.#scripts]) rmSync(path, { recursive: true, force: true });
    return code;
  }
}
