import { createServer, type Server } from "node:net";
import { HandPeer, overSocket, type WireMessage } from "../../links/conformance/hand-peer.ts";
import { until } from "../bridge/stage.ts";

/** One use that waits for what a test does with it. */
export interface Held {
  readonly peer: HandPeer;
  readonly message: WireMessage;
  readonly verb: unknown;
  readonly member: unknown;
}

/** An upstream, written by hand, that does what a test says and nothing else: what is not answered hangs. */
export class HostilePlant {
  readonly #server: Server;
  readonly #peers: HandPeer[] = [];
  /** Every use there has been, in order. */
  readonly uses: Held[] = [];

  constructor() {
    this.#server = createServer((bytes) => void this.#serve(new HandPeer(overSocket(bytes))));
  }

  async listen(path: string): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(path, resolve));
  }

  get connections(): number {
    return this.#peers.length;
  }

  /** Waits for the `nth` use of a member by a verb. */
  async use(verb: string, member: string, nth = 1): Promise<Held> {
    const find = (): Held | undefined =>
      this.uses.filter((each) => each.verb === verb && each.member === member)[nth - 1];
    await until(() => find() !== undefined);
    const found = find();
    if (found === undefined) throw new Error("it was there");
    return found;
  }

  /** Breaks every connection without a word. */
  cut(): void {
    for (const { pipe } of this.#peers) pipe.cut();
  }

  async close(): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #serve(peer: HandPeer): Promise<never> {
    this.#peers.push(peer);
    const seen = new Set<WireMessage>();
    for (;;) {
      const message = await peer.next((one) => !seen.has(one));
      seen.add(message);
      const { members, surface, verb, member } = message.params ?? {};
      if (message.method === "surface/hello") {
        peer.send({ id: message.id, result: { protocol: 1, surface, heartbeatMs: 5000, members } });
      }
      if (message.method === "surface/ask" || message.method === "surface/follow") {
        this.uses.push({ peer, message, verb, member });
      }
    }
  }
}

/** Answers a use that is answered once, or ends one that goes on. */
export function answer({ peer, message }: Held, result: unknown): void {
  peer.send({ id: message.id, result });
}

/** Fails a use. */
export function refuse({ peer, message }: Held, data: unknown): void {
  peer.send({ id: message.id, error: { code: -32_000, message: "s3cr3t of a wire", data } });
}

/** Sends the next item of a use that goes on, once it may. */
export async function tell({ peer, message }: Held, part: object): Promise<void> {
  const { stream, credit } = message.params ?? {};
  const ofStream = (method: string): readonly WireMessage[] =>
    peer.heard.filter((each) => each.method === method && each.params?.["stream"] === stream);
  const granted = (): number =>
    ofStream("surface/credit").reduce((sum, { params }) => sum + Number(params?.["credit"]), Number(credit));
  const told = sent.get(message) ?? 0;
  await until(() => granted() > told);
  sent.set(message, told + 1);
  peer.notify("surface/item", { stream, ...part });
}

const sent = new WeakMap<WireMessage, number>();
