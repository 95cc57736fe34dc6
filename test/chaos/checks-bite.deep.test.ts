import { describe, expect, it } from "vitest";
import type { BackendBug } from "./backend-protocol.ts";
import type { Patch } from "../fixtures/patch-sources.ts";
import { runChaos } from "./run-chaos.ts";

/** A bound on a hang, on a machine that may be busy. */
const longMs = 240_000;

function patch(file: string, find: string, replacement: string): Patch {
  return { file, find, replacement };
}

/** A bug, and the check that finds it. */
type Case = readonly [
  what: string,
  made: { readonly bug?: BackendBug; readonly patches?: readonly Patch[] },
  check: string,
];

const cases: readonly Case[] = [
  ["the backend applies mutations twice", { bug: "applies twice" }, "mutations"],
  ["the backend answers mutations that it does not apply", { bug: "answers without applying" }, "mutations"],
  ["the backend tells nobody of a change", { bug: "forgets a change" }, "no lost change"],
  [
    "the face sends mutations again",
    { patches: [patch("spine/request.ts", `if (kind === "mutation") {`, `if (kind === "mutation" && !sent) {`)] },
    "mutations",
  ],
  [
    "the face says of a cut mutation that nothing was sent",
    { patches: [patch("spine/request.ts", `sent ? unknown :`, `!sent ? unknown :`)] },
    "mutations",
  ],
  [
    "the face does not send reads again",
    { patches: [patch("spine/request.ts", `this.#isLate || this.#sendings >= maxSendings`, `true`)] },
    "no failed read",
  ],
  [
    "the face does not wait for a backend",
    {
      patches: [
        patch("spine/request.ts", `return this.#setting.kind === "read" && !isFinalFailure(failure);`, `return false;`),
      ],
    },
    "no failed read",
  ],
  [
    "the face forgets the last of many changes",
    { patches: [patch("spine/throttle.ts", `else this.#arm(left);`, ``)] },
    "no lost change",
  ],
  [
    "the face takes what a new backend begins with for old",
    { patches: [patch("spine/subscriptions.ts", `generation > this.#firstGeneration || !this.#isPrompt()`, `false`)] },
    "no lost change",
  ],
  [
    "the face answers reads from before a mutation",
    { patches: [patch("catalog/resources/resource-watches.ts", `resource.seenAfter === this.changes.count`, `true`)] },
    "own writes are read",
  ],
];

describe("the checks of the run", () => {
  it.each(cases)(
    "find it when %s",
    async (_what, made, check) => {
      // A run ends with the first cycle that breaks something. Most bugs break one of the first ten, by chance one later.
      const { failure } = await runChaos({ cycles: 100, seed: 2, ...made });
      const found = failure?.violations.map((violation) => violation.check) ?? [];
      expect(found).toContain(check);
    },
    longMs,
  );
});
