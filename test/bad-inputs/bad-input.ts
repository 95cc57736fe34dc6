import { readFileSync } from "node:fs";

/** Part of a line that is built when it is sent, since it is too long to be written down. */
export interface Generated {
  readonly prefix: string;
  readonly unit: string;
  readonly count: number;
  readonly mid?: string;
  /** Repeated `count` times after `mid`. */
  readonly unit2?: string;
  readonly suffix: string;
  readonly noNewline?: boolean;
}

/** What is sent, in the order of these fields. */
export interface Input {
  readonly closeStdoutFirst?: boolean;
  readonly doNotReadStdout?: boolean;
  readonly lines?: readonly (string | { readonly waitMs: number })[];
  readonly linesB64?: readonly (string | { readonly waitMs: number })[];
  /** Texts that are written one by one, as they are, with a pause between them. */
  readonly chunks?: readonly string[];
  /** Lines are written in pieces of so many bytes. */
  readonly sliceBytes?: number;
  readonly gen?: Generated;
  readonly genLines?: { readonly tmpl: string; readonly from: number; readonly to: number };
  readonly rawNoNewline?: string;
  readonly thenEof?: boolean;
}

/** How a message is answered: a code, or what kind of answer it is. */
export type Answer = number | "result" | "toolError" | "ack" | "updated" | "none" | "close";

/** What has to come of it. */
export interface Expectation {
  readonly rpc?: Answer;
  readonly rpcAnyOf?: readonly Answer[];
  readonly rpcSeq?: readonly Answer[];
  readonly alive?: boolean | "either";
  readonly maxMs?: number;
  readonly maxRssMB?: number;
  readonly maxResponseKB?: number;
  readonly sideEffect?: string;
  readonly stdoutOnlyJsonRpc?: boolean;
  readonly exit?: number | "any";
  /** The URIs that a subscription is acknowledged for. */
  readonly ackUris?: readonly string[];
  /** The names of the marks that handlers leave, in order; of our own cases. */
  readonly marks?: readonly string[];
  readonly note?: string;
}

/** One bad input and what has to come of it. */
export interface BadInput {
  readonly id: string;
  readonly transport: string;
  readonly precondition: "none" | "modern" | "modern-pinned" | "legacy-ready";
  readonly input: Input;
  readonly expect: Expectation;
}

/** The cases of the corpus that are sent over stdio. */
export function readCorpus(): readonly BadInput[] {
  const text = readFileSync(new URL("../fixtures/bad-inputs.json", import.meta.url), "utf8");
  // The corpus is written in this shape; a case that is not fails its own test.
  const cases = JSON.parse(text) as BadInput[];
  return cases.filter((each) => each.transport === "stdio");
}
