import type { Readable } from "node:stream";

const keptLength = 4000;

/** The end of what a process says, for the case that it fails. */
export class TextTail {
  #text = "";

  constructor(stream: Readable) {
    stream.setEncoding("utf8").on("data", (chunk: string) => {
      this.#text = (this.#text + chunk).slice(-keptLength);
    });
  }

  get text(): string {
    return this.#text;
  }
}
