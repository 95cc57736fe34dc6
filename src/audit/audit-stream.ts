import type { Writable } from "node:stream";
import type { AuditTarget } from "./audit-writer.ts";
import { Chain } from "./chain.ts";

const nothing = Buffer.alloc(0);

/** A stream of lines. Its chain begins with the process. The stream's owner ends it. */
export class AuditStream implements AuditTarget {
  readonly name = "the audit stream";
  readonly chain: Chain = new Chain();
  readonly #stream: Writable;

  constructor(stream: Writable) {
    this.#stream = stream;
    // Without a listener, an error of the stream would end the process. write() reports it.
    stream.on("error", ignore);
  }

  async prepare(): Promise<Buffer> {
    return nothing;
  }

  /** Waits until the stream has passed the bytes on. */
  write(bytes: Buffer): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#stream.write(bytes, (error) => (error ? reject(error) : resolve(bytes.length)));
    });
  }

  writeAtExit(rest: Buffer, records: readonly string[]): void {
    this.#stream.write(Buffer.concat([rest, this.chain.link(records)]));
  }

  close(): void {
    this.#stream.off("error", ignore);
  }
}

function ignore(): void {}
