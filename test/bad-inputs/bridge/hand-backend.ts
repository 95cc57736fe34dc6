import { once } from "node:events";
import type { Duplex } from "node:stream";
import { HandPeer, type Pipe, type WireMessage } from "../../links/conformance/hand-peer.ts";
import type { Control, Mode } from "./control.ts";

const chunk = Buffer.alloc(1024 ** 2, "x");

/** Writes for as long as somebody takes it: far more than any bound, and yet not for ever. */
async function flood(bytes: Duplex, parts: readonly Buffer[]): Promise<void> {
  const over = once(bytes, "close");
  for (let count = 0; count < 256 && !bytes.destroyed; count += 1) {
    for (const part of parts) bytes.write(part);
    if (bytes.writableNeedDrain) await Promise.race([once(bytes, "drain"), over]);
  }
}

/** The head of a web socket frame of a server, with a length of eight bytes. */
function webHead(first: number, length: number): Buffer {
  const head = Buffer.alloc(10);
  head.writeUInt8(first, 0);
  head.writeUInt8(127, 1);
  head.writeBigUInt64BE(BigInt(length), 2);
  return head;
}

/** What a backend written by hand speaks through: messages, and the bytes beneath them. */
export interface HandWire {
  readonly pipe: Pipe;
  readonly bytes: Duplex;
  readonly isWeb: boolean;
}

function breakFrames({ bytes, isWeb }: HandWire, mode: Mode): void {
  if (mode.startsWith("garbage")) bytes.write(Buffer.from("\u0000\u00ff garbage\n", "latin1"));
  if (mode === "huge length") {
    bytes.write(isWeb ? webHead(0x81, 1024 ** 3) : `Content-Length: ${1024 ** 3}\r\n\r\n`);
    void flood(bytes, [chunk]).catch(() => {});
  }
  if (mode !== "endless") return;
  if (isWeb) bytes.write(webHead(0x01, 0));
  // Fragments of one message without a last one; or a header without an end.
  void flood(bytes, isWeb ? [webHead(0x00, chunk.length), chunk] : [chunk]).catch(() => {});
}

const values: Partial<Record<Mode, object>> = {
  "violation!": { count: "evil words" },
  "secret!": { count: 7, password: "hunter2", nested: { token: "hunter2" } },
};

function answerAsk(peer: HandPeer, wire: HandWire, { message, control }: Asked): void {
  const member = String(message.params?.["member"]);
  // What it does is over before it is known: a test may then say what comes next.
  const mode = member === "bump" ? control.mode : control.takeMode();
  control.log(member);
  const value = mode === "good" ? { count: 7 } : values[mode];
  if (value !== undefined) peer.send({ id: message.id, result: { value } });
  else if (member !== "bump") breakFrames(wire, mode);
}

interface Asked {
  readonly message: WireMessage;
  readonly control: Control;
}

/** Agrees with whatever it is asked for, and then does as it is told to. */
export async function runHandBackend(wire: HandWire, control: Control): Promise<never> {
  control.log("connected");
  const peer = new HandPeer(wire.pipe);
  const seen = new Set<WireMessage>();
  for (;;) {
    const message = await peer.next((one) => !seen.has(one));
    seen.add(message);
    if (message.method === "surface/hello") {
      const { members } = message.params ?? {};
      const words = { title: "EVIL", description: "EVIL" };
      peer.send({ id: message.id, result: { protocol: 1, surface: "shop", heartbeatMs: 5000, members, ...words } });
    }
    if (message.method === "surface/ask") answerAsk(peer, wire, { message, control });
  }
}
