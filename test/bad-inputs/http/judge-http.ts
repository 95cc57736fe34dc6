import { stages, type Stage, type StageCounts } from "../../../src/http/admission.ts";
import type { Answer } from "../bad-input.ts";
import type { HttpBadInput, HttpExpectation } from "./http-input.ts";
import type { HttpSeen } from "./send-http.ts";

/** What was seen of a server while a case ran. */
export interface HttpObserved extends HttpSeen {
  readonly marks: readonly (readonly [name: string, value: unknown])[];
  readonly stderr: string;
  /** How far its requests came; of a case with one request. */
  readonly stages: StageCounts | undefined;
  readonly alive: boolean;
  readonly elapsedMs: number;
  readonly rssDeltaMB: number;
}

/** The one message of an answer, in one piece or as the last event of a stream. */
function messageOf(text: string): unknown {
  const json = text.startsWith("{") ? text : (text.trimEnd().split("\n").at(-1) ?? "").replace(/^data: /, "");
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

/** What a text answers. */
export function answerIn(text: string): Answer {
  const message = messageOf(text);
  if (message === undefined) return "none";
  const { error, result } = Object(message);
  if (error !== undefined) return Number(Object(error).code);
  return Object(result).isError === true ? "toolError" : "result";
}

function* judgeAnswer(expect: HttpExpectation, { status, text }: HttpObserved): Generator<string> {
  const { http, httpAnyOf = http === undefined ? undefined : [http], rpc, rpcAnyOf } = expect;
  if (httpAnyOf?.some((each) => each === status) === false) {
    yield `answered with ${status}, expected ${httpAnyOf.join(" or ")}: ${text.slice(0, 200)}`;
  }
  const answers = rpc === undefined ? rpcAnyOf : [rpc];
  const answer = answerIn(text);
  if (answers?.some((each) => each === answer) === false) yield `answered ${answer}, expected ${answers.join(" or ")}`;
}

/** The scope in the corpus is that of any surface; this one is called otherwise. */
function piecesOf(pattern: string): readonly string[] {
  return pattern
    .replace("surface:", "hostile:")
    .split(/…|, |Bearer /)
    .filter((piece) => piece.trim() !== "" && piece !== '"');
}

function* judgeHeaders(expect: HttpExpectation, { headers }: HttpObserved): Generator<string> {
  if (expect.forbidHeader !== undefined && headers[expect.forbidHeader] !== undefined) yield "sent a forbidden header";
  for (const [name, pattern] of Object.entries(expect.header ?? {})) {
    const value = String(headers[name]);
    const missing = piecesOf(pattern).filter((piece) => !value.includes(piece.trim()));
    if (missing.length > 0) yield `header ${name} is ${value}, without ${missing.join(" and ")}`;
  }
}

/** How far a request may have come that is refused with one of these. */
const farthest: Readonly<Record<number, Stage>> = {
  401: "token",
  404: "envelope",
  // Without a session it is known only behind the token that nothing is served.
  405: "token",
  406: "head",
  413: "body",
  415: "head",
  503: "token",
};

/** The furthest stage that a request which is refused in this way may have come to; `undefined`: it was not refused. */
export function refusedAt({ status, headers, text }: HttpSeen): Stage | undefined {
  if (status === "close" || status < 400) return undefined;
  const answer = answerIn(text);
  if (status === 403) return headers["www-authenticate"] === undefined ? "head" : "gate";
  // Its method is one that nobody knows, which is found out where it would run.
  if (answer === -32601) return "gate";
  return answer === -32700 ? "body" : (farthest[status] ?? "envelope");
}

function* judgeStages(seen: HttpObserved): Generator<string> {
  const { stages: counts } = seen;
  if (counts === undefined) return;
  const order = stages.map((stage) => counts[stage]);
  const rising = order.findIndex((count, index) => index > 0 && count > (order[index - 1] ?? 0));
  if (rising !== -1) yield `came to stage "${stages[rising]}" past the one before it: ${order.join(" ")}`;
  const last = refusedAt(seen);
  if (last === undefined) return;
  const beyond = stages.slice(stages.indexOf(last) + 1).filter((stage) => counts[stage] !== 0);
  if (beyond.length > 0) yield `was refused at "${last}" and came to ${beyond.join(", ")}`;
}

function* judgeSafety(expect: HttpExpectation, seen: HttpObserved): Generator<string> {
  const ran = seen.marks.map(([name]) => name);
  if (expect.sideEffect !== undefined && ran.includes("wipe")) yield "the destructive tool ran";
  if (ran.includes("configure")) yield "a procedure that is not exposed ran";
  if (/secret-token|\/home\/u|polluted|node:internal/.test(seen.text)) yield `leaked: ${seen.text.slice(0, 300)}`;
  if (/uncaught|unhandled|MaxListeners/i.test(seen.stderr)) yield `died or nearly: ${seen.stderr.slice(0, 2000)}`;
  if (!seen.alive) yield "is not alive";
}

/** A busy machine takes longer: the bounds are there for work without an end, not for speed. */
const patience = 10;

/** Compares what was seen with what a case expects, and with what must hold for every input. Empty: all is well. */
export function judgeHttp({ expect }: HttpBadInput, seen: HttpObserved): readonly string[] {
  const { maxMs = Infinity, maxRssDeltaMB = Infinity } = expect;
  return [
    ...judgeAnswer(expect, seen),
    ...judgeHeaders(expect, seen),
    ...judgeStages(seen),
    ...judgeSafety(expect, seen),
    ...(seen.elapsedMs > maxMs * patience ? [`took ${seen.elapsedMs} ms of ${maxMs}`] : []),
    ...(seen.rssDeltaMB > maxRssDeltaMB ? [`held ${seen.rssDeltaMB} MB more, of ${maxRssDeltaMB}`] : []),
  ];
}
