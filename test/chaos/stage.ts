import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Patch } from "../fixtures/patch-sources.ts";
import { Chance } from "../sim/chance.ts";
import { BackendProcess, type BackendSetting } from "./backend-process.ts";
import type { BackendBug } from "./backend-protocol.ts";
import { bundleProgram } from "./bundle-program.ts";
import { FaceProcess } from "./face-process.ts";
import { ChangeFollower, RingFollower } from "./followers.ts";
import type { JournalLine } from "./history.ts";
import { Load } from "./load.ts";
import { Subscriber } from "./subscriber.ts";

/** What a run is made of. */
export interface StageSetting {
  readonly seed: number;
  /** A bug that the backend is told to have. */
  readonly bug?: BackendBug | undefined;
  /** Bugs that are put into the face. */
  readonly patches?: readonly Patch[] | undefined;
}

/** The processes of a run, and everybody who talks to them. Whoever opens it closes it. */
export class Stage {
  readonly seed: number;
  readonly face: FaceProcess;
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

  private constructor(seed: number, faceScript: string, setting: Omit<BackendSetting, "path" | "journal">) {
    this.#folder = mkdtempSync(join(tmpdir(), "chaos-"));
    this.#scripts = [faceScript, setting.script];
    this.#setting = { ...setting, path: join(this.#folder, "s.sock"), journal: join(this.#folder, "journal") };
    writeFileSync(this.#setting.journal, "");
    this.seed = seed;
    this.chance = new Chance();
    this.face = new FaceProcess(faceScript, this.#setting.path);
    this.load = new Load(this.face, this.chance);
    this.subscriber = new Subscriber(this.face);
    this.rings = new RingFollower(this.face);
    this.changes = new ChangeFollower(this.face);
    this.backend = new BackendProcess(1, this.#setting);
  }

  /** Starts both processes, and subscribes. */
  static async open({ seed, bug, patches }: StageSetting): Promise<Stage> {
    const bundles = [bundleProgram("backend", "backend"), bundleProgram("face", `face-${seed}`, patches)];
    const [script = "", faceScript = ""] = await Promise.all(bundles);
    const stage = new Stage(seed, faceScript, { script, bug });
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
