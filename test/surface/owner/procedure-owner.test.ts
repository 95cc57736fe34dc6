import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { Refusal, SurfaceError } from "../../../src/errors.ts";
import { defineSurface } from "../../../src/surface/define-surface.ts";
import type { HandlerContext } from "../../../src/surface/owner/handler-context.ts";
import { procedure } from "../../../src/surface/define-members.ts";
import { readOnly } from "../../../src/tags/read-only.ts";
import { noteRejections, openLive, schemaOf, settle } from "../support.ts";

const plain = defineSurface("s", { run: procedure({ input: z.object({ n: z.number() }), output: z.number() }) });
const loose = defineSurface("s", { run: procedure({ progress: z.number() }) });

/** Every odd thing that code can throw. */
function createThrowables(): [name: string, thrown: unknown][] {
  const getters = new Error("secret");
  for (const name of ["stack", "cause", "message", "name"]) {
    Object.defineProperty(getters, name, {
      get() {
        throw new Error("secret getter");
      },
    });
  }
  const trap = (): never => {
    throw new Error("secret trap");
  };
  return [
    ["undefined", undefined],
    ["null", null],
    ["a string", "secret"],
    ["a number", 5],
    ["a symbol", Symbol("secret")],
    ["a frozen object", Object.freeze({ secret: true })],
    ["an object without a prototype", Object.create(null)],
    ["an error with getters that throw", getters],
    ["a proxy that throws when touched", new Proxy({}, { getPrototypeOf: trap, get: trap, has: trap })],
    ["an error of ours that names a member", new SurfaceError("UNKNOWN_MEMBER", 'no member "secret"')],
  ];
}

describe("a procedure", () => {
  it("call() runs handlers that are synchronous, asynchronous or generators", async () => {
    const handlers = [
      ({ n }: { n: number }) => n + 1,
      async ({ n }: { n: number }) => n + 1,
      async function* ({ n }: { n: number }) {
        yield undefined;
        return n + 1;
      },
    ];
    for (const run of handlers) {
      const { client } = await openLive(plain, { run });
      expect(await client.run.call({ n: 1 })).toBe(2);
    }
  });

  it.each(createThrowables().map(([name]) => name))(
    "call() masks what the handler throws when it is %s",
    async (name) => {
      const thrown = createThrowables().find(([other]) => other === name)?.[1];
      const handlers = [
        () => {
          throw thrown;
        },
        () => Promise.reject(thrown),
        // oxlint-disable-next-line require-yield -- throws before it could
        async function* () {
          throw thrown;
        },
      ];
      for (const run of handlers) {
        const { client, faults } = await openLive(loose, { run });
        const failure = await client.run.call().catch((cause: unknown) => cause);
        expect(failure).toMatchObject({ code: "INTERNAL" });
        expect(String(failure)).not.toContain("secret");
        expect(faults).toHaveLength(1);
        expect(faults[0]?.cause === thrown).toBe(true);
      }
    },
  );

  it("call() lets a Refusal through as it is, from every sort of handler", async () => {
    const refusal = Object.freeze(new Refusal("BUSY", "a run is in progress", { run: 7 }));
    for (const run of [() => Promise.reject(refusal), ((): never => thrower(refusal)) as () => unknown]) {
      const { client, faults } = await openLive(loose, { run });
      await expect(client.run.call()).rejects.toBe(refusal);
      expect(faults).toEqual([]);
    }
  });

  it("call() validates once on either side, with defaults and transforms, when schemas are asynchronous too", async () => {
    const counts = { input: 0, output: 0 };
    const count =
      <TValue>(side: "input" | "output", later: boolean) =>
      (value: TValue) => {
        counts[side] += 1;
        const result = { value: side === "input" ? { n: 1, ...value } : `<${String(value)}>` };
        return later ? Promise.resolve(result) : result;
      };
    for (const later of [false, true]) {
      const surface = defineSurface("s", {
        run: procedure({ input: schemaOf(count("input", later)), output: schemaOf(count("output", later)) }),
      });
      const { client } = await openLive(surface, { run: (input) => (input as { n: number }).n });
      expect(await client.run.call({})).toBe("<1>");
    }
    expect(counts).toEqual({ input: 2, output: 2 });
    const zod = defineSurface("s", {
      run: procedure({
        input: z
          .object({
            at: z
              .string()
              .default("x")
              .transform((text) => `${text}!`),
          })
          .refine(async () => true),
        output: z.string().transform((text) => text.length),
      }),
    });
    const { client } = await openLive(zod, { run: ({ at }) => at });
    expect(await client.run.call({})).toBe(2);
  });

  it("call() refuses an input that does not fit without running the handler, and masks a schema that throws", async () => {
    let ran = 0;
    const { client, faults } = await openLive(plain, { run: () => (ran += 1) });
    await expect(client.run.call({ n: "x" as never })).rejects.toMatchObject({
      code: "VALIDATION_ERROR",
      issues: [{ path: "n" }],
    });
    expect([ran, faults.length]).toEqual([0, 0]);
    for (const input of [
      schemaOf(() => thrower(new Error("secret"))),
      schemaOf(() => Promise.reject(new Error("secret"))),
    ]) {
      const broken = await openLive(defineSurface("s", { run: procedure({ input }) }), { run: () => (ran += 1) });
      await expect(broken.client.run.call(1)).rejects.toMatchObject({ code: "INTERNAL" });
      expect(broken.faults).toHaveLength(1);
    }
    expect(ran).toBe(0);
  });

  it("call() withholds an output that does not fit", async () => {
    const { client, faults } = await openLive(plain, { run: () => "secret" as never });
    const failure = await client.run.call({ n: 1 }).catch((cause: unknown) => cause);
    expect(failure).toMatchObject({ code: "INVALID_OUTPUT", correlationId: faults[0]?.correlationId, issues: [] });
  });

  it("progress() reaches the caller in order, checked, from the context as from a yield, also taken out of it", async () => {
    const schemas = [z.number(), schemaOf(async (value) => (await settle(1), { value }))];
    for (const progress of schemas) {
      const surface = defineSurface("s", { viaYield: procedure({ progress }), viaContext: procedure({ progress }) });
      const { client } = await openLive(surface, {
        viaYield: async function* () {
          yield 1;
          yield 2;
          return "done";
        },
        viaContext: (_input, { progress: tell }) => {
          tell(1);
          tell(2);
          return "done";
        },
      });
      for (const member of [client.viaYield, client.viaContext]) {
        const seen: unknown[] = [];
        expect(await member.call(undefined, { onProgress: (report) => seen.push(report) })).toBe("done");
        expect(seen).toEqual([1, 2]);
      }
    }
  });

  it("progress() fails the call when a report does not fit, and ends the generator", async () => {
    let finished = 0;
    const asynchronous = schemaOf(async (value) =>
      typeof value === "number" ? { value } : { issues: [{ message: "no" }] },
    );
    for (const progress of [z.number(), asynchronous]) {
      const surface = defineSurface("s", { viaYield: procedure({ progress }), viaContext: procedure({ progress }) });
      const { client } = await openLive(surface, {
        viaYield: async function* () {
          try {
            yield "bad" as never;
            return "done";
          } finally {
            finished += 1;
          }
        },
        viaContext: async (_input, context) => {
          context.progress("bad");
          return "done";
        },
      });
      await expect(client.viaYield.call()).rejects.toMatchObject({ code: "INVALID_OUTPUT" });
      await expect(client.viaContext.call()).rejects.toMatchObject({ code: "INVALID_OUTPUT" });
    }
    expect(finished).toBe(2);
  });

  it("progress() does nothing once the handler has finished, and a listener that throws does not fail the call", async () => {
    let context: HandlerContext | undefined;
    const { client, faults } = await openLive(loose, {
      run: (_input, given) => {
        context = given;
        given.progress(1);
        return "done";
      },
    });
    const seen: unknown[] = [];
    const onProgress = (report: unknown): void => {
      seen.push(report);
      throw new Error("the caller's own");
    };
    expect(await client.run.call(undefined, { onProgress })).toBe("done");
    context?.progress(2);
    expect(seen).toEqual([1]);
    expect(faults).toMatchObject([{ where: 'the progress listener of procedure "run"' }]);
  });

  describe("refusing with a code that is declared", () => {
    const explode = (): never => {
      throw new Error("secret");
    };
    const errors = {
      BUSY: z.object({ run: z.number() }),
      LATER: z.object({ run: z.number() }).refine(async ({ run }) => run > 0),
      BROKEN: schemaOf(explode),
      PLAIN: undefined,
    };
    const strict = defineSurface("s", { run: procedure({ errors }) });

    it.each([
      ["BUSY", { run: 7, secret: true }, { run: 7 }],
      ["LATER", { run: 7 }, { run: 7 }],
      ["PLAIN", { any: 1 }, { any: 1 }],
      ["UNDECLARED", { any: 1 }, { any: 1 }],
      ["toString", { any: 1 }, { any: 1 }],
    ])("call() gives the details of %s when %j fit", async (code, details, expected) => {
      const refuse = (): never => {
        throw new Refusal(code, "no", details);
      };
      const { client, faults } = await openLive(strict, { run: refuse });
      const failure = await client.run.call().catch((cause: unknown) => cause);
      expect(failure).toBeInstanceOf(Refusal);
      expect(failure).toMatchObject({ code, message: "no" });
      expect((failure as Refusal).details).toEqual(expected);
      expect(faults).toEqual([]);
    });

    it.each([
      ["BUSY", { run: "secret" }, { code: "INVALID_OUTPUT" }],
      ["BUSY", undefined, { code: "INVALID_OUTPUT" }],
      ["LATER", { run: 0 }, { code: "INVALID_OUTPUT" }],
      ["BROKEN", { run: 7 }, new Error("secret")],
    ])("call() withholds the details of %s, and tells the log, when %j do not fit", async (code, details, logged) => {
      const run = async function* (): AsyncGenerator<undefined> {
        yield undefined;
        throw new Refusal(code, "no", details);
      };
      const { client, faults } = await openLive(strict, { run });
      const failure = await client.run.call().catch((cause: unknown) => cause);
      expect(failure).toBeInstanceOf(Refusal);
      expect(failure).toMatchObject({ code, message: "no", details: undefined });
      expect(faults).toHaveLength(1);
      expect(faults[0]).toMatchObject({ where: `procedure "run", refusing with "${code}"`, cause: logged });
    });

    it("call() masks a refusal whose own parts cannot be read", async () => {
      const hostile = Object.defineProperty(new Refusal("BUSY", "no"), "details", { get: explode });
      const { client, faults } = await openLive(strict, { run: () => Promise.reject(hostile) });
      await expect(client.run.call()).rejects.toMatchObject({ code: "INTERNAL" });
      expect(faults).toHaveLength(1);
    });
  });

  it("call() reports what an asynchronous progress listener rejects with, and goes on", async () => {
    const rejections = noteRejections();
    const { client, faults } = await openLive(loose, {
      run: (_input, context) => {
        context.progress(1);
        return "done";
      },
    });
    // What a caller in plain JavaScript may do.
    const onProgress = (): never => Promise.reject(new Error("listener")) as never;
    expect(await client.run.call(undefined, { onProgress })).toBe("done");
    await settle();
    expect(rejections.end()).toEqual([]);
    expect(faults).toMatchObject([{ where: 'the progress listener of procedure "run"', cause: new Error("listener") }]);
  });

  it("call() returns the generator when it is aborted: no further than the next yield, finally and all", async () => {
    const steps: string[] = [];
    const { client, live, faults } = await openLive(loose, {
      run: async function* () {
        try {
          steps.push("first");
          yield 1;
          await settle();
          yield 2;
          steps.push("never");
          return "done";
        } finally {
          await settle();
          steps.push("finally");
        }
      },
    });
    const controller = new AbortController();
    const call = client.run.call(undefined, {
      signal: controller.signal,
      onProgress: () => controller.abort(),
    });
    await expect(call).rejects.toMatchObject({ code: "ABORTED" });
    await live.close();
    expect(steps).toEqual(["first", "finally"]);
    expect(faults).toEqual([]);
    expect(getEventListeners(controller.signal, "abort")).toHaveLength(0);
  });

  it("call() lets timers run, and so is ended by one, when a generator never waits for anything", async () => {
    const controller = new AbortController();
    const { client } = await openLive(loose, {
      run: async function* (_input, { signal }) {
        // An end that a test which fails comes to.
        for (let count = 0; count < 1_000_000 && !signal.aborted; count += 1) yield count;
        return "never ended";
      },
    });
    setTimeout(() => controller.abort(), 1);
    const call = client.run.call(undefined, { signal: controller.signal });
    await expect(call).rejects.toMatchObject({ code: "ABORTED" });
  });

  it("call() keeps the answer when a generator finished in spite of the abort of the surface", async () => {
    let release = (): void => {};
    const { client, live } = await openLive(loose, {
      // oxlint-disable-next-line require-yield -- a generator that only returns
      run: async function* () {
        await new Promise<void>((resolve) => (release = resolve));
        return "done";
      },
    });
    const call = client.run.call();
    await settle();
    const closing = live.close();
    await settle();
    release();
    await closing;
    expect(await call).toBe("done");
  });

  it("call() reports a generator whose finally fails after an abort, and takes one without return()", async () => {
    const { client, live, faults } = await openLive(loose, {
      run: async function* () {
        try {
          for (;;) {
            yield 1;
            await settle(1);
          }
        } finally {
          thrower(new Error("secret"));
        }
      },
    });
    const controller = new AbortController();
    const call = client.run.call(undefined, { signal: controller.signal });
    await settle();
    controller.abort();
    await expect(call).rejects.toMatchObject({ code: "ABORTED" });
    await live.close();
    expect(faults.map((fault) => fault.cause)).toEqual([new Error("secret")]);

    const steps = [
      { done: false, value: 1 },
      { done: true, value: "done" },
    ];
    const byHand = { next: async () => steps.shift(), [Symbol.asyncIterator]: () => byHand };
    const other = await openLive(loose, { run: () => byHand });
    expect(await other.client.run.call()).toBe("done");
  });

  it("call() says aborted, and reports no fault, when a handler passes on what its signal was fired with", async () => {
    const handlers = [
      (_input: undefined, { signal }: HandlerContext) =>
        new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
      (_input: undefined, { signal }: HandlerContext) =>
        new Promise((_resolve, reject) =>
          signal.addEventListener("abort", () => reject(new DOMException("x", "AbortError"))),
        ),
    ];
    for (const run of handlers) {
      const { client, live, faults } = await openLive(loose, { run });
      const controller = new AbortController();
      const cancelled = client.run.call(undefined, { signal: controller.signal });
      const closed = client.run.call();
      const outcomes = Promise.allSettled([cancelled, closed]);
      controller.abort("because");
      await settle();
      await live.close();
      expect(await outcomes).toMatchObject([{ reason: { code: "ABORTED" } }, { reason: { code: "OUTCOME_UNKNOWN" } }]);
      expect(faults).toEqual([]);
    }
  });

  it("call() says that the outcome is unknown when closing cuts off what had begun, and CLOSED of what only reads", async () => {
    const run = (_input: undefined, { signal }: HandlerContext) =>
      new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    const both = defineSurface("s", { write: procedure({}), read: readOnly(procedure({})) });
    const { client, live } = await openLive(both, { write: run, read: run });
    const outcomes = Promise.allSettled([
      client.write.call(),
      client.write.call(undefined, { idempotent: true }),
      client.read.call(),
    ]);
    await settle();
    await live.close();
    const codes = ["OUTCOME_UNKNOWN", "CLOSED", "CLOSED"];
    expect(await outcomes).toMatchObject(codes.map((code) => ({ reason: { code } })));
    await expect(client.write.call()).rejects.toMatchObject({ code: "CLOSED" });
  });

  it("call() reports a fault when a handler fails with something else after its signal fired", async () => {
    const { client, live, faults } = await openLive(loose, {
      run: (_input, { signal }) =>
        new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(new Error("secret")))),
    });
    const outcome = Promise.allSettled([client.run.call()]);
    await settle();
    await live.close();
    expect(await outcome).toMatchObject([{ reason: { code: "INTERNAL" } }]);
    expect(faults).toHaveLength(1);
  });

  it("call() does not start a handler when its signal had fired, or when the surface closed while the input was checked", async () => {
    let ran = 0;
    let accept = (_result: { value: unknown }): void => {};
    const input = schemaOf(() => new Promise((resolve) => (accept = resolve)));
    const { client, live } = await openLive(defineSurface("s", { run: procedure({ input }) }), {
      run: () => (ran += 1),
    });
    await expect(client.run.call(1, { signal: AbortSignal.abort() })).rejects.toMatchObject({ code: "ABORTED" });
    const late = Promise.allSettled([client.run.call(1)]);
    await settle();
    await live.close();
    accept({ value: 1 });
    expect(await late).toMatchObject([{ reason: { code: "CLOSED" } }]);
    expect(ran).toBe(0);
  });

  it("signal links to nothing when it is asked for after the call has ended", async () => {
    let context: HandlerContext | undefined;
    const { client } = await openLive(loose, {
      run: (_input, given) => {
        context = given;
      },
    });
    const controller = new AbortController();
    await client.run.call(undefined, { signal: controller.signal });
    expect(context?.signal.aborted).toBe(false);
    expect(getEventListeners(controller.signal, "abort")).toHaveLength(0);
    controller.abort();
    expect(context?.signal.aborted).toBe(false);
  });

  it.each([
    ["at once", (n: number): unknown => String(n)],
    ["later", async (n: number): Promise<unknown> => String(n)],
  ])("signal links to nothing after an output that does not fit was given %s", async (_when, answer) => {
    const { client } = await openLive(plain, {
      run: ({ n }, { signal }) => {
        signal.throwIfAborted();
        // What a handler answers that its author has typed by a cast.
        return answer(n) as number;
      },
    });
    const controller = new AbortController();
    const failed = client.run.call({ n: 1 }, { signal: controller.signal });
    await expect(failed).rejects.toMatchObject({ code: "INVALID_OUTPUT" });
    expect(getEventListeners(controller.signal, "abort")).toHaveLength(0);
  });

  it("call() gives a handler that is written as a method its siblings", async () => {
    const surface = defineSurface("s", { a: procedure({ output: z.number() }), b: procedure({ output: z.number() }) });
    const { client } = await openLive(surface, {
      a() {
        return 1;
      },
      b() {
        return (this as unknown as { a(): number }).a() + 1;
      },
    });
    expect(await client.b.call()).toBe(2);
  });
});

function thrower(error: Error): never {
  throw error;
}
