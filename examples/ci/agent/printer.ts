import { createPalette } from "./palette.ts";
import type { Palette } from "./palette.ts";

/** Where the story goes, line by line. */
export interface Printer {
  readonly paint: Palette;
  /** How many characters of a detail fit on a line of the terminal; `Infinity` where nothing is in the way. */
  readonly room: number;
  /** Something that happened, with the time since the start in front; details are indented below it. */
  step(text: string, details?: readonly string[]): void;
  /** Lines that belong to the last step. */
  details(lines: readonly string[]): void;
  /** A line at the margin, after an empty one. */
  headline(text: string): void;
  /**
   * What goes on while the agent waits. A terminal shows it on one line that is written over; anything else gets a line
   * now and then.
   */
  waiting(text: string): void;
  /** Wipes what {@link waiting} has left on a terminal's last line. */
  close(): void;
}

/** The part of a writable stream that a printer needs. */
export interface Paper {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

const GUTTER = " ".repeat(10);
/** How often a pipe hears that the wait goes on: when something has changed, and when nothing has. */
const CHANGED_MS = 5000;
const UNCHANGED_MS = 30_000;
const CLEAR_LINE = "\r\u001B[2K";

/** Makes a printer. Colours: on a terminal that wants them (https://no-color.org). */
export function createPrinter(paper: Paper, env: NodeJS.ProcessEnv = process.env): Printer {
  return new LinePrinter(paper, env);
}

class LinePrinter implements Printer {
  readonly paint: Palette;
  readonly #paper: Paper;
  readonly #live: boolean;
  readonly #startedAt = performance.now();
  #lineIsOpen = false;
  #lastWait = { text: "", at: 0 };

  constructor(paper: Paper, env: NodeJS.ProcessEnv) {
    this.#paper = paper;
    this.#live = paper.isTTY === true && env["TERM"] !== "dumb";
    this.paint = createPalette(this.#live && !env["NO_COLOR"]);
  }

  step(text: string, details: readonly string[] = []): void {
    this.#write(`${this.paint("dim", this.#elapsed())}  ${text}`);
    this.details(details);
    // A pipe has just heard something: the next word about the wait can wait, too.
    this.#lastWait.at = performance.now();
  }

  get room(): number {
    return this.#live ? (this.#paper.columns ?? 80) - GUTTER.length : Number.POSITIVE_INFINITY;
  }

  details(lines: readonly string[]): void {
    for (const line of lines) this.#write(`${GUTTER}${line}`);
  }

  headline(text: string): void {
    this.#write("");
    this.#write(text);
  }

  waiting(text: string): void {
    if (this.#live) {
      this.#paper.write(
        `${CLEAR_LINE}${this.paint("dim", this.#elapsed())}  ${this.paint("busy", text.slice(0, this.room - 1))}`,
      );
      this.#lineIsOpen = true;
      return;
    }
    const silentMs = performance.now() - this.#lastWait.at;
    if (silentMs < (text === this.#lastWait.text ? UNCHANGED_MS : CHANGED_MS)) return;
    this.#lastWait = { text, at: performance.now() };
    this.step(text);
  }

  close(): void {
    if (this.#lineIsOpen) this.#paper.write(CLEAR_LINE);
    this.#lineIsOpen = false;
  }

  #elapsed(): string {
    return `${((performance.now() - this.#startedAt) / 1000).toFixed(1).padStart(6)} s`;
  }

  #write(line: string): void {
    this.#paper.write(`${this.#lineIsOpen ? CLEAR_LINE : ""}${line.trimEnd()}\n`);
    this.#lineIsOpen = false;
  }
}
