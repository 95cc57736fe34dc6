import { Buffer } from "node:buffer";
import { setTimeout as sleep } from "node:timers/promises";
import { envelope, handshake } from "../fixtures/envelope.ts";
import type { ServerProcess } from "../fixtures/server-process.ts";
import type { BadInput, Generated, Input } from "./bad-input.ts";

/** Brings a connection to where a case begins. */
export async function prepare(server: ServerProcess, precondition: BadInput["precondition"]): Promise<void> {
  if (precondition === "legacy-ready") {
    await server.request({ id: "prepare-1", method: "initialize", params: handshake });
    await server.send('{"jsonrpc":"2.0","method":"notifications/initialized"}');
  } else if (precondition !== "none") {
    await server.request({ id: "prepare-1", method: "server/discover", params: { _meta: envelope } });
  }
  if (precondition === "modern-pinned") {
    await server.request({ id: "prepare-2", method: "tools/list", params: { _meta: envelope } });
  }
}

/** The text that a generated input stands for. */
export function generate({ prefix, unit, count, mid = "", unit2 = "", suffix }: Generated): string {
  return `${prefix}${unit.repeat(count)}${mid}${unit2.repeat(count)}${suffix}`;
}

/** Every complete line of an input, decoded, for whoever judges the answers. */
export function textLines(input: Input): readonly string[] {
  const plain = (input.lines ?? []).filter((line) => typeof line === "string");
  const decoded = (input.linesB64 ?? []).filter((line) => typeof line === "string");
  return [
    ...plain.flatMap((line) => line.split("\n")),
    ...decoded.map((line) => Buffer.from(line, "base64").toString("utf8")),
    ...(input.chunks === undefined ? [] : input.chunks.join("").split("\n")),
  ];
}

/** How lines are written. */
interface Writing {
  readonly encoding: BufferEncoding;
  readonly sliceBytes: number;
}

async function sendLines(server: ServerProcess, lines: NonNullable<Input["lines"]>, how: Writing): Promise<void> {
  for (const line of lines) {
    if (typeof line !== "string") {
      await sleep(line.waitMs);
      continue;
    }
    const bytes = Buffer.concat([Buffer.from(line, how.encoding), Buffer.from("\n")]);
    for (let at = 0; at < bytes.length; at += how.sliceBytes)
      await server.send(bytes.subarray(at, at + how.sliceBytes));
  }
}

async function sendChunks(server: ServerProcess, chunks: readonly string[]): Promise<void> {
  for (const chunk of chunks) {
    await server.send(Buffer.from(chunk));
    await sleep(1);
  }
}

async function sendGenerated(server: ServerProcess, { gen, genLines }: Input): Promise<void> {
  if (gen !== undefined) await server.send(Buffer.from(`${generate(gen)}${gen.noNewline ? "" : "\n"}`));
  if (genLines === undefined) return;
  const { tmpl, from, to } = genLines;
  const ids = Array.from({ length: to - from + 1 }, (_none, index) => from + index);
  // A server that stops reading stops this too, which is what it should do: nobody waits for it.
  void server.send(Buffer.from(ids.map((id) => `${tmpl.replace("%d", String(id))}\n`).join("")));
  await sleep(2000);
}

/** Sends an input. */
export async function sendInput(server: ServerProcess, input: Input): Promise<void> {
  if (input.closeStdoutFirst) server.child.stdout.destroy();
  if (input.doNotReadStdout) server.child.stdout.pause();
  const sliceBytes = input.sliceBytes ?? Infinity;
  await sendLines(server, input.lines ?? [], { encoding: "utf8", sliceBytes });
  await sendLines(server, input.linesB64 ?? [], { encoding: "base64", sliceBytes });
  await sendChunks(server, input.chunks ?? []);
  await sendGenerated(server, input);
  if (input.rawNoNewline !== undefined) await server.send(Buffer.from(input.rawNoNewline));
  if (input.thenEof) server.child.stdin.end();
}
