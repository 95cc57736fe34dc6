import { clipText } from "../schema/clip-text.ts";
import type { HttpRequest } from "./message.ts";

const maxShownBytes = 256;

/** The path that messages are served at, with or without a slash at its end. */
export class ServedPath {
  readonly #path: string;
  readonly #slashed: string;
  #isSettled = false;

  constructor(path: string) {
    this.#path = path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
    this.#slashed = path === "/" ? path : `${this.#path}/`;
  }

  /** Returns whether a request's path is the one that is served. */
  has(path: string): boolean {
    const isServed = path === this.#path || path === this.#slashed;
    if (isServed) this.#isSettled = true;
    return isServed;
  }

  /**
   * Warns once of a message to another path, if none has come to this one: a framework hands on requests of the path that
   * the handler is mounted at, and nothing else tells its author why they are answered with 404.
   */
  missed({ method }: HttpRequest, path: string): void {
    if (this.#isSettled || method !== "POST") return;
    this.#isSettled = true;
    const asked = JSON.stringify(clipText(path, maxShownBytes));
    const what = `Cannot serve ${asked}: the app is served at "${this.#path}"`;
    // oxlint-disable-next-line no-console -- the author's terminal is where a warning belongs
    console.error(`[surface-mcp] warning: ${what}; pass { path: ${asked} } if it is mounted there`);
  }
}
