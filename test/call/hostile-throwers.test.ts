import { assert, asyncProperty, constantFrom, oneof, record, type Arbitrary } from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { SurfaceError, surfaceErrorCodes } from "../../src/errors.ts";
import {
  cell,
  collection,
  defineSurface,
  event,
  mcp,
  mcpResource,
  mcpTool,
  procedure,
  stream,
} from "../../src/index.ts";
import { createTestClient } from "../../src/testing/index.ts";

const secret = "s3cr3t-of-hidden.member";

/** Ways to throw something that carries the secret. */
const thrown: Arbitrary<() => unknown> = oneof(
  constantFrom(
    () => secret,
    () => new Error(secret),
    () => new AggregateError([new Error(secret)], secret),
    () => new Error("x", { cause: secret }),
    () => Object.assign(new Error("x"), { code: secret, issues: [{ path: secret, message: secret }] }),
    () => ({ message: secret, toString: () => secret, toJSON: () => secret }),
    () => ({ [Symbol.toPrimitive]: () => secret }),
    () => Object.freeze([secret]),
    () => Symbol(secret),
    () => () => secret,
    () => throwingProxy(),
    () => Promise.reject(new Error(secret)),
    () => new Error("x", { cause: Promise.reject(new Error(secret)) }),
    () => Object.create(null, { message: { value: secret } }) as unknown,
    () => Object.defineProperty(new Error("x"), "message", { get: () => raise(new Error(secret)) }),
    () => Object.defineProperty(new SurfaceError("TIMEOUT", "x"), "code", { get: () => raise(secret) }),
    () => Object.defineProperty(new SurfaceError("TIMEOUT", "x"), "code", { value: secret }),
    () => new z.ZodError([{ code: "custom", path: [secret], message: secret, input: secret }]),
  ),
  record({
    code: constantFrom(...surfaceErrorCodes),
    correlationId: constantFrom(undefined, secret, "", "7"),
    issues: constantFrom([], [{ path: secret, message: secret }]),
  }).map(
    ({ code, correlationId, issues }) =>
      () =>
        new SurfaceError(code, `Using procedure "${secret}": no`, {
          issues,
          cause: secret,
          ...(correlationId === undefined ? {} : { correlationId }),
        }),
  ),
);

function raise(value: unknown): never {
  throw value;
}

function throwingProxy(): unknown {
  const trap = (): never => raise(new Error(secret));
  return new Proxy({}, { getPrototypeOf: trap, get: trap, has: trap, getOwnPropertyDescriptor: trap });
}

const text = z.string();
const surface = defineSurface("hostile", {
  cell: mcpResource(cell({ schema: text, default: "" })),
  items: mcpResource(collection({ key: text, schema: text })),
  latest: mcpResource(stream({ output: text })),
  recent: mcpResource(event({ input: text, output: text })),
  pull: mcpTool(stream({ output: text })),
  wait: mcpTool(event({ input: z.object({ n: z.number() }), output: text })),
  sync: mcpTool(procedure({ output: text })),
  late: mcpTool(procedure({})),
  steps: mcpTool(procedure({ progress: text })),
});

/** What every way to reach the app answers, as one text, when each handler of it throws what `make` makes. */
async function everyAnswer(make: () => unknown): Promise<string> {
  const fail = (): never => raise(make());
  const source = { get: fail, subscribe: () => () => {} };
  const app = mcp(surface, { onFault: () => {} })
    .implement({
      cell: source,
      items: { ...source, keys: fail },
      latest: fail,
      recent: fail,
      // oxlint-disable-next-line require-yield -- a handler that throws before its first value
      pull: async function* () {
        fail();
      },
      wait: fail,
      sync: fail,
      late: async () => fail(),
      steps: async function* () {
        yield "begun";
        fail();
      },
    })
    .tools({
      bespoke: { handler: fail },
      through: { handler: (_args, { client }) => client.sync.call() },
    });
  const client = createTestClient(app);
  const settled = await Promise.allSettled([
    ...["pull", "sync", "late", "steps", "bespoke", "through"].map((name) =>
      client.request("tools/call", { name, arguments: {} }),
    ),
    client.request("tools/call", { name: "wait", arguments: { n: 1, timeout_ms: 50 } }),
    ...["cell", "items", "items/a", "latest", "recent/a"].map((path) =>
      client.request("resources/read", { uri: `surface://hostile/${path}` }),
    ),
  ]);
  await client.close().catch(() => {});
  return settled
    .map((each) => (each.status === "fulfilled" ? JSON.stringify(each.value) : inspect(each.reason)))
    .join("\n");
}

/** Everything that a failed request carries but its stack, which names this file's variables. */
function inspect(reason: unknown): string {
  if (!(reason instanceof Error)) return `not an error: ${String(reason)}`;
  return JSON.stringify(
    Object.fromEntries(
      Object.getOwnPropertyNames(reason)
        .filter((key) => key !== "stack")
        .map((key) => [key, Reflect.get(reason, key)]),
    ),
  );
}

describe("a hostile thrown value does not reach a caller", () => {
  it("no answer holds the secret when handlers of every kind throw it in every form", async () => {
    await assert(
      asyncProperty(thrown, async (make) => {
        const answers = await everyAnswer(make);
        expect(answers.split("\n")).toHaveLength(12);
        expect(answers).not.toContain(secret);
        expect(answers).not.toContain("not an error");
      }),
      { numRuns: 150 },
    );
  });

  it("no answer holds the secret, and no rejection is left, when an error throws as soon as its code is read", async () => {
    // The test runner fails on a rejection that is left.
    const answers = await everyAnswer(() =>
      Object.defineProperty(new SurfaceError("TIMEOUT", "x"), "code", { get: () => raise(secret) }),
    );
    expect(answers.split("\n")).toHaveLength(12);
    expect(answers).not.toContain(secret);
  });
});
