import { setTimeout as sleep } from "node:timers/promises";
import { envelope } from "../fixtures/envelope.ts";
import { ServerProcess } from "../fixtures/server-process.ts";
import type { BadInput } from "./bad-input.ts";
import type { Observed } from "./judge.ts";
import { prepare, sendInput } from "./send-input.ts";

/** How many answers a case waits for. Where none may come, the probe's answer is the end of the wait. */
function answersDue({ expect }: BadInput): number {
  if (expect.rpcSeq !== undefined) return expect.rpcSeq.length;
  if (expect.rpc !== undefined) return expect.rpc === "none" ? 0 : 1;
  return expect.rpcAnyOf?.some((answer) => answer === "none" || answer === "close") === false ? 1 : 0;
}

/** Long enough for an answer that must not come: the slowest call of these cases takes 400 ms. */
const silenceMs = 450;

/** Asks whether the server still answers, in the way of the era that the connection may be in. */
async function isAlive(server: ServerProcess, { id, precondition }: BadInput): Promise<boolean> {
  const request = precondition.startsWith("modern")
    ? { method: "server/discover", params: { _meta: envelope } }
    : { method: "ping" };
  return (await server.request({ id: toProbeId(id), ...request }))?.message["result"] !== undefined;
}

function toProbeId(id: string): string {
  return `probe for life after ${id}`;
}

/** Sends one bad input to a server that is prepared for it, and says what was seen from there on. */
export async function watch(server: ServerProcess, badInput: BadInput): Promise<Observed> {
  const { id, input, expect } = badInput;
  const from = { frames: server.frames.length, noise: server.noise.length };
  const before = { stderr: server.stderr.length, marks: server.marks.length };
  const start = performance.now();
  await sendInput(server, input);
  const exit = expect.exit === undefined ? undefined : await server.end();
  await server.until(() => server.frames.length - from.frames >= answersDue(badInput));
  const elapsedMs = performance.now() - start;
  const alive = expect.alive === true && (await isAlive(server, badInput));
  // What must not come is waited for too.
  if (answersDue(badInput) === 0 && exit === undefined) await sleep(silenceMs);
  return {
    frames: server.frames.slice(from.frames).filter(({ message }) => message["id"] !== toProbeId(id)),
    noise: server.noise.slice(from.noise),
    stderr: server.stderr.slice(before.stderr),
    marks: server.marks.slice(before.marks),
    alive,
    elapsedMs,
    peakRssMB: server.peakRssMB,
    exit,
  };
}

/** Sends one bad input to a process of its own and says what was seen. */
export async function runCase(script: string, badInput: BadInput): Promise<Observed> {
  const server = new ServerProcess(script);
  try {
    await prepare(server, badInput.precondition);
    return await watch(server, badInput);
  } finally {
    await server.kill();
  }
}
