import type { Random } from "../attack/random.ts";
import { FloodConnection } from "./flood-connection.ts";
import { badFrame, type FrameEra, frameEras, type GoodFrame, goodFrame } from "./mutated-frame.ts";
import { faultsOf } from "./read-responses.ts";

/** Writes a POST request whose framing is right, whatever its body is. */
export function toPost(body: string, headers: readonly string[]): Buffer {
  const content = Buffer.from(body);
  const head = [
    "POST /mcp HTTP/1.1",
    "host: localhost",
    "accept: application/json, text/event-stream",
    "content-type: application/json",
    `content-length: ${content.length}`,
    ...headers,
  ];
  return Buffer.concat([Buffer.from(`${head.join("\r\n")}\r\n\r\n`), content]);
}

/** One client of the flood: a connection, and the requests that it draws. */
export class Flooder {
  readonly #connection: FloodConnection;
  readonly #session: string;
  readonly #random: Random;

  constructor(port: number, session: string, random: Random) {
    this.#connection = new FloodConnection(port);
    this.#session = session;
    this.#random = random;
  }

  #headers(era: FrameEra, { method, name }: GoodFrame): readonly string[] {
    if (era === "legacy") return ["mcp-protocol-version: 2025-11-25", `mcp-session-id: ${this.#session}`];
    const named = name === undefined ? [] : [`mcp-name: ${name}`];
    return ["mcp-protocol-version: 2026-07-28", `mcp-method: ${method}`, ...named];
  }

  /** Sends one request of the flood, or `broken` bytes. Returns the faults of what was heard. */
  send(id: number, broken: Buffer | undefined): Promise<readonly string[]> {
    if (broken !== undefined) return this.#broken(broken);
    return id % 4 === 1 ? this.#malformed(id) : this.#good(id);
  }

  /** Closes the connection. */
  close(): void {
    this.#connection.close();
  }

  /** Sends a good request, which is answered with its result. */
  async #good(id: number): Promise<readonly string[]> {
    const era = this.#random.pick(frameEras);
    const frame = goodFrame(this.#random, era, id);
    const { status, body } = await this.#connection.ask(toPost(frame.line, this.#headers(era, frame)));
    const answer: unknown = status === 200 ? JSON.parse(body) : undefined;
    const isOwn = Reflect.get(Object(answer), "id") === id && Reflect.has(Object(answer), "result");
    return isOwn ? [] : [`${status} ${body.slice(0, 300)}\nto ${frame.line}`];
  }

  /** Sends a malformed message in a request whose framing is right: it gets one response. */
  async #malformed(id: number): Promise<readonly string[]> {
    const era = this.#random.pick(frameEras);
    const line = badFrame(this.#random, era, id);
    const headers = this.#headers(era, goodFrame(this.#random, era, id));
    const { heard } = await this.#connection.ask(toPost(line, headers));
    return faultsOf(heard).map((fault) => `${fault}\nto ${line}`);
  }

  /** Sends bytes that are no request, or several. */
  async #broken(bytes: Buffer): Promise<readonly string[]> {
    const faults = await this.#connection.tell(bytes);
    return faults.map((fault) => `${fault}\nto ${JSON.stringify(bytes.toString("latin1"))}`);
  }
}
