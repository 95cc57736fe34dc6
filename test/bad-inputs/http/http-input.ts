import { readFileSync } from "node:fs";
import type { Answer, Generated } from "../bad-input.ts";

/** One request, as it is sent. */
export interface HttpMessage {
  readonly method: string;
  readonly path: string;
  /** `null`: left out. */
  readonly headers: Readonly<Record<string, string | null>>;
  readonly body?: string;
  readonly chunked?: boolean;
  /** A body that is built when it is sent. */
  readonly gen?: Generated;
  readonly doNotReadBody?: boolean;
  readonly backendUpdates?: number;
}

/** What is done before the request that counts: in words, or a request. */
export type Step = string | HttpMessage | { readonly call: string; readonly abortAfterMs: number };

/** What is sent. */
export type HttpInput =
  | HttpMessage
  | { readonly rawSocket: string; readonly holdMs?: number }
  | { readonly steps: readonly Step[] }
  | { readonly repeat: number; readonly request: HttpMessage };

/** What has to come of it. */
export interface HttpExpectation {
  readonly http?: number;
  readonly httpAnyOf?: readonly (number | "close")[];
  readonly rpc?: Answer;
  readonly rpcAnyOf?: readonly Answer[];
  /** Pieces of a value, with `…` for what may be anything. */
  readonly header?: Readonly<Record<string, string>>;
  readonly forbidHeader?: string;
  readonly sideEffect?: string;
  readonly maxMs?: number;
  readonly maxRssDeltaMB?: number;
}

/** One bad input over HTTP and what has to come of it. */
export interface HttpBadInput {
  readonly id: string;
  readonly transport: string;
  readonly precondition: string;
  readonly input: HttpInput;
  readonly expect: HttpExpectation;
}

/** The cases of the corpus that are sent over HTTP. */
export function readHttpCorpus(): readonly HttpBadInput[] {
  const text = readFileSync(new URL("../../fixtures/bad-inputs.json", import.meta.url), "utf8");
  // The corpus is written in this shape; a case that is not fails its own test.
  const cases = JSON.parse(text) as HttpBadInput[];
  return cases.filter((each) => each.transport.startsWith("http"));
}
