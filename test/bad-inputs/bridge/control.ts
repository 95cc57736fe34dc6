import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Whether a backend is written by hand or served, and then in which version. */
export type Kind = "hand" | "served" | "reworded" | "changed";

/** What a backend does to the next use that reads, or to every one where it is marked "!". */
export type Mode = "good" | "garbage" | "garbage!" | "huge length" | "endless" | "violation!" | "secret!" | "hang";

/** What a backend is told, and tells, by files: they outlive every process that a link starts, and a SIGKILL. */
export class Control {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
    for (const name of ["kind", "mode", "log"]) appendFileSync(join(folder, name), "");
  }

  get kind(): Kind {
    // What is written there is what `set` was given.
    return this.#read("kind") as Kind;
  }

  get mode(): Mode {
    // What is written there is what `set` was given.
    return this.#read("mode") as Mode;
  }

  set(kind: Kind, mode: Mode): void {
    writeFileSync(join(this.#folder, "kind"), kind);
    this.setMode(mode);
  }

  setMode(mode: Mode): void {
    writeFileSync(join(this.#folder, "mode"), mode);
  }

  /** The mode; one that is not for every use is over with this. */
  takeMode(): Mode {
    const { mode } = this;
    if (!mode.endsWith("!")) this.setMode("good");
    return mode;
  }

  log(line: string): void {
    appendFileSync(join(this.#folder, "log"), `${line}\n`);
  }

  /** Everything that was logged, in order. */
  lines(): readonly string[] {
    return this.#read("log").split("\n");
  }

  count(line: string): number {
    return this.lines().filter((each) => each === line).length;
  }

  #read(name: string): string {
    return readFileSync(join(this.#folder, name), "utf8");
  }
}
