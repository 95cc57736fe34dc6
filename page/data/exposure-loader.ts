import type { PageEntry, PageExposure } from "../../src/inspector/messages.ts";
import { messageOf } from "../requests.ts";
import type { PageData } from "./page-data.ts";

/** The parts of the page that the loader uses. */
export interface ExposureLoaderDeps {
  readonly load: <T>(path: string, query?: Readonly<Record<string, string>>) => Promise<T>;
  readonly changed: () => void;
}

/** The exposure of the app and its entries, loaded when a panel shows them and again when they have changed. */
export class ExposureLoader {
  error: string | undefined;
  entry: PageEntry | undefined;
  readonly #data: PageData;
  readonly #deps: ExposureLoaderDeps;
  #shown = "";
  /** The version that was asked for last, by route. */
  readonly #wanted = new Map<string, string>();

  constructor(data: PageData, deps: ExposureLoaderDeps) {
    this.#data = data;
    this.#deps = deps;
  }

  /** Loads the exposure, if another version was loaded last. */
  ensure(): void {
    void this.#load<PageExposure>("exposure", {}, (exposure) => {
      this.#data.exposure = exposure;
    });
  }

  /** Loads an entry, if another one was loaded last. */
  ensureEntry(id: string, kind: string): void {
    if (this.#shown !== `${kind} ${id}`) this.entry = undefined;
    this.#shown = `${kind} ${id}`;
    void this.#load<PageEntry>("entry", { id, kind }, (entry) => {
      this.entry = entry;
    });
  }

  async #load<T>(path: string, query: Readonly<Record<string, string>>, set: (value: T) => void): Promise<void> {
    const wanted = `${this.#data.app?.instance} ${this.#data.state?.exposure} ${query["kind"]} ${query["id"]}`;
    if (this.#wanted.get(path) === wanted) return;
    this.#wanted.set(path, wanted);
    try {
      const value = await this.#deps.load<T>(path, query);
      // Another one may be wanted since.
      if (this.#wanted.get(path) !== wanted) return;
      this.error = undefined;
      set(value);
    } catch (error) {
      this.error = messageOf(error);
    }
    this.#deps.changed();
  }
}
