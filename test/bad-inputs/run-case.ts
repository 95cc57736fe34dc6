import { setTimeout as sleep } from "node:timers/promises";
import { envelope } from "../fixtures/envelope.ts";
import { ServerProcess, type Frame } from "../fixtures/server-process.ts";
import type { BadInput } from "./bad-input.ts";
import type { Observed } from "./judge.ts";
import { prepare, sendInput } from "./send-input.ts";

const probeId = "probe for life";

/** How many answers a case waits for. Where none may come, the probe's answer is the end of the wait. */
function answersDue({ expect }: BadInput): number {
  if (expect.rpcSeq !== undefined) return expect.rpcSeq.length;
  if (expect.rpc !== undefined) return expect.rpc === "none" ? 0 : 1;
  return expect.rpcAnyOf?.some((answer) => answer === "none" || answer === "close") === false ? 1 : 0;
}

/** Long enough for an answer that must not come: the slowest call of these cases takes 400 ms. */
const silenceMs = 450;

function isProbe({ message }: Frame): boolean {
  return message["id"] === probeId;
}

/** Asks whether the server still answers, in the way of the era that the connection may be in. */
async function probe(server: ServerProcess, precondition: BadInput["precondition"]): Promise<boolean> {
  const isModern = precondition.startsWith("modern");
  const request = isModern
    ? { id: probeId, method: "server/discover", params: { _meta: envelope } }
    : { id: probeId, method: "ping" };
  return (await server.request(request))?.message["result"] !== undefined;
}

async function watch(server: ServerProcess, badInput: BadInput): Promise<Observed> {
  const { precondition, input, expect } = badInput;
  await prepare(server, precondition);
  const from = server.frames.length;
  const start = performance.now();
  await sendInput(server, input);
  const exit = expect.exit === undefined ? undefined : await server.end();
  await server.until(() => server.frames.length - from >= answersDue(badInput));
  const elapsedMs = performance.now() - start;
  const alive = expect.alive === true && (await probe(server, precondition));
  // What must not come is waited for too.
  if (answersDue(badInput) === 0 && exit === undefined) await sleep(silenceMs);
  const { noise, stderr, marks, peakRssMB } = server;
  const frames = server.frames.slice(from).filter((frame) => !isProbe(frame));
  return { frames, noise, stderr, marks, alive, elapsedMs, peakRssMB, exit };
}

/** Sends one bad input to a process of its own and says what was seen. */
export async function runCase(script: string, badInput: BadInput): Promise<Observed> {
  const server = new ServerProcess(script);
  try {
    return await watch(server, badInput);
  } finally {
    await server.kill();
  }
}
