import { describe, expect, it } from "vitest";
import type { AskingOptions } from "../../../src/builder/app-definition.ts";
import { createAskingApp } from "../asking-app.ts";

describe("the option asking", () => {
  const secret = new Uint8Array(32).fill(1);
  const good: AskingOptions[] = [
    {},
    { secret, claim: () => true },
    { secret: Buffer.alloc(64), claim: () => true },
    { claim: async () => false },
    { timeoutMs: {} },
    { timeoutMs: { elicit: 3_600_000, sample: 0.5, roots: undefined as never } },
  ];

  it.each(good)("is taken when it is %j", (asking) => {
    expect(() => createAskingApp({ asking })).not.toThrow();
  });

  const bad: (readonly [what: string, asking: unknown, named: string])[] = [
    ["nothing", null, '"asking" must be an object'],
    ["a flag", true, '"asking" must be an object'],
    ["a short secret", { secret: new Uint8Array(31) }, '"asking.secret" must be a Uint8Array of at least 32 bytes'],
    ["a text for a secret", { secret: "a secret of more than 32 characters" }, '"asking.secret" must be'],
    ["an ArrayBuffer for a secret", { secret: new ArrayBuffer(64) }, '"asking.secret" must be'],
    ["a claim that is no function", { claim: true }, '"asking.claim" must be a function'],
    ["a secret without a claim", { secret }, '"asking.secret" needs "asking.claim"'],
    ["a time that is none for all", { timeoutMs: 1000 }, '"asking.timeoutMs" must be an object'],
    [
      "a time for what is no question",
      { timeoutMs: { elicits: 1 } },
      '"elicits" is not an option; did you mean "elicit"?',
    ],
    [
      "no time at all",
      { timeoutMs: { roots: 0 } },
      '"asking.timeoutMs.roots" must be a number of milliseconds above 0',
    ],
    ["a time of no number", { timeoutMs: { sample: "60" } }, '"asking.timeoutMs.sample" must be'],
    ["endless time", { timeoutMs: { elicit: Number.POSITIVE_INFINITY } }, '"asking.timeoutMs.elicit" must be'],
    ["more time than timers can wait", { timeoutMs: { elicit: 2 ** 31 } }, "and at most 3600000"],
    ["an unknown option", { secrets: secret }, '"secrets" is not an option'],
  ];

  it.each(bad)("is refused, and not quoted, when it is %s", (_what, asking, named) => {
    // What an honest author's types would not let through.
    const make = (): unknown => createAskingApp({ asking: asking as AskingOptions });
    expect(make).toThrow(expect.objectContaining({ code: "INVALID_OPTION", message: expect.stringContaining(named) }));
    expect(make).not.toThrow("more than 32 characters");
  });
});
