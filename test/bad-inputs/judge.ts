import { Buffer } from "node:buffer";
import type { Frame } from "../fixtures/server-process.ts";
import type { Answer, BadInput, Expectation } from "./bad-input.ts";
import { textLines } from "./send-input.ts";

/** What was seen of a server while a case ran. */
export interface Observed {
  /** What it sent from the first byte of the input on, without what the probe for life was answered. */
  readonly frames: readonly Frame[];
  readonly noise: readonly string[];
  readonly stderr: string;
  readonly marks: readonly (readonly [name: string, value: unknown])[];
  readonly alive: boolean;
  readonly elapsedMs: number;
  readonly peakRssMB: number;
  /** Set where the process has ended. */
  readonly exit: number | null | "running" | undefined;
}

/** A busy machine takes longer: the bounds are there for work without an end, not for speed. */
const patience = 10;

const maxFrameBytes = 4 * 1024 * 1024;
const maxIdBytes = 1024;

const acknowledged = "notifications/subscriptions/acknowledged";

/** What a message answers. */
export function answerOf({ message }: Frame): Answer {
  const { error, result, method } = message;
  if (method === acknowledged) return "ack";
  if (method === "notifications/resources/updated") return "updated";
  if (typeof error === "object" && error !== null && "code" in error) return Number(error.code);
  const failed = typeof result === "object" && result !== null && "isError" in result && result.isError === true;
  return failed ? "toolError" : "result";
}

/** Tells whether an answer can carry an id. */
export function isEchoable(id: unknown): boolean {
  return typeof id === "string" ? Buffer.byteLength(id) <= maxIdBytes : Number.isSafeInteger(id);
}

/** The id that a line can be answered with; null where it cannot be told, as JSON-RPC says. */
function idOf(line: string): unknown {
  if (Buffer.byteLength(line) > maxFrameBytes) return null;
  try {
    const message: unknown = JSON.parse(line);
    if (typeof message !== "object" || message === null || !("id" in message) || !("jsonrpc" in message)) return null;
    return message.jsonrpc === "2.0" && isEchoable(message.id) ? message.id : null;
  } catch {
    return null;
  }
}

/** Calls run side by side, so that a later one may be answered first: what counts is how often each answer came. */
function tally(answers: readonly Answer[]): string {
  return answers.map(String).toSorted().join(", ");
}

/** Answers that would satisfy a case that expects one; undefined where it expects several, or says nothing. */
function allowedOf({ rpc, rpcAnyOf }: Expectation): readonly Answer[] | undefined {
  if (rpc === undefined) return rpcAnyOf;
  // Who leaves says nothing either.
  return rpc === "none" ? ["none", "close"] : [rpc];
}

function* judgeAnswers(expect: Expectation, answers: readonly Answer[], ended: boolean): Generator<string> {
  const shown = `answered ${JSON.stringify(answers)}`;
  const allowed = allowedOf(expect);
  if (allowed !== undefined) {
    const [only, ...more] = answers.length === 0 ? [ended ? "close" : "none"] : answers;
    if (more.length > 0 || !allowed.some((each) => each === only))
      yield `${shown}, expected ${JSON.stringify(allowed)}`;
  }
  if (expect.rpcSeq !== undefined && tally(answers) !== tally(expect.rpcSeq)) {
    yield `${shown}, expected ${JSON.stringify(expect.rpcSeq)} in any order`;
  }
}

function* judgeIds({ input }: BadInput, frames: readonly Frame[]): Generator<string> {
  // Lines that are built while they are sent hold ids 1, from..to, or none that could be read.
  if (input.gen !== undefined || input.genLines !== undefined) return;
  const allowed = textLines(input).map(idOf);
  for (const { message, line } of frames) {
    if ("method" in message) continue;
    if (!allowed.includes(message["id"] ?? null)) yield `answered an id that nobody sent: ${line.slice(0, 200)}`;
  }
}

function* judgeAcknowledged({ ackUris }: Expectation, frames: readonly Frame[]): Generator<string> {
  if (ackUris === undefined) return;
  for (const { message, line } of frames) {
    if (message["method"] !== acknowledged) continue;
    const { notifications } = Object(message["params"]);
    const uris = Reflect.get(Object(notifications), "resourceSubscriptions") ?? [];
    if (JSON.stringify(uris) !== JSON.stringify(ackUris)) yield `acknowledged other URIs: ${line.slice(0, 200)}`;
  }
}

function* judgeBounds(expect: Expectation, seen: Observed): Generator<string> {
  const { maxMs = Infinity, maxRssMB = Infinity, maxResponseKB = Infinity } = expect;
  if (seen.elapsedMs > maxMs * patience) yield `took ${seen.elapsedMs} ms of ${maxMs}`;
  if (seen.peakRssMB > maxRssMB) yield `held ${seen.peakRssMB} MB of ${maxRssMB}`;
  const bytes = seen.frames.reduce((sum, frame) => sum + Buffer.byteLength(frame.line), 0);
  if (bytes > maxResponseKB * 1024) yield `answered ${bytes} bytes of ${maxResponseKB} KB`;
}

function* judgeExit({ exit }: Expectation, seen: Observed): Generator<string> {
  if (exit === "any" && (seen.exit === undefined || seen.exit === "running")) yield "did not exit";
  if (typeof exit === "number" && seen.exit !== exit) yield `exited with ${seen.exit}, expected ${exit}`;
}

function* judgeSafety(expect: Expectation, seen: Observed): Generator<string> {
  const ran = seen.marks.map(([name]) => name);
  if (expect.sideEffect !== undefined && ran.includes("wipe")) yield "the destructive tool ran";
  if (expect.marks !== undefined && JSON.stringify(ran) !== JSON.stringify(expect.marks)) {
    yield `handlers ran: ${JSON.stringify(ran)}, expected ${JSON.stringify(expect.marks)}`;
  }
  if (ran.includes("configure")) yield "a procedure that is not exposed ran";
  for (const { line } of seen.frames) {
    if (/secret-token|\/home\/u|polluted|node:internal/.test(line)) yield `leaked: ${line.slice(0, 300)}`;
  }
  for (const line of seen.noise) yield `wrote on stdout what is no JSON-RPC: ${line.slice(0, 200)}`;
  if (/uncaught|unhandled/i.test(seen.stderr)) yield `died or nearly: ${seen.stderr.slice(0, 2000)}`;
}

/** Compares what was seen with what a case expects, and with what must hold for every input. Empty: all is well. */
export function judge(badInput: BadInput, seen: Observed): readonly string[] {
  const { expect } = badInput;
  const ended = seen.exit !== undefined;
  return [
    ...judgeAnswers(expect, seen.frames.map(answerOf), ended),
    ...judgeIds(badInput, seen.frames),
    ...judgeAcknowledged(expect, seen.frames),
    ...judgeBounds(expect, seen),
    ...judgeExit(expect, seen),
    ...judgeSafety(expect, seen),
    ...(expect.alive === true && !seen.alive ? ["is not alive"] : []),
  ];
}
