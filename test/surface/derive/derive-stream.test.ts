import { describe, expect, it } from "vitest";
import * as z from "zod";
import { Refusal, SurfaceError } from "../../../src/errors.ts";
import { defineSurface } from "../../../src/surface/define-surface.ts";
import { derive } from "../../../src/surface/derive/derive.ts";
import { stream } from "../../../src/surface/define-members.ts";
import { settle, take, until } from "../support.ts";
import { createHang, openProjection, startMill, type MillSpec } from "./support.ts";

const belt = defineSurface("board", { belt: stream({ input: z.object({ belt: z.string() }), output: z.string() }) });
const input = { belt: "x" };

async function all<TValue>(values: AsyncIterable<TValue>): Promise<TValue[]> {
  const seen: TValue[] = [];
  for await (const value of values) seen.push(value);
  return seen;
}

describe("derive.stream()", () => {
  it("gives every frame, made into its own, and ends with upstream", async () => {
    const { live } = startMill();
    const { client } = openProjection(live, belt, (up) => ({
      belt: derive.stream(up.belt, (frame, given) => `${given.belt}: ${frame}`),
    }));
    expect(await all(client.belt.open(input))).toEqual(["x: x 1", "x: x 2"]);
    expect(await client.belt.latest(input)).toMatch(/^x: x/);
  });

  it("leaves frames out that its filter refuses, and asks upstream with an input of its own", async () => {
    const { live } = startMill();
    const { client } = openProjection(live, belt, (up) => ({
      belt: derive.stream(up.belt, (frame) => frame, {
        input: (given: { belt: string }) => ({ belt: `${given.belt}${given.belt}` }),
        filter: (frame, given) => frame.endsWith("2") && given.belt === "x",
      }),
    }));
    expect(await all(client.belt.open(input))).toEqual(["xx 2"]);
  });

  it("ends upstream with its reader, who waits for that", async () => {
    const { hung, release } = createHang();
    let isOver = false;
    const { live } = startMill({
      async *belt() {
        try {
          for (;;) {
            yield "on";
            await new Promise((resolve) => setImmediate(resolve));
          }
        } finally {
          await hung;
          isOver = true;
        }
      },
    });
    const { client } = openProjection(live, belt, (up) => ({ belt: derive.stream(up.belt, (frame) => frame) }));
    const frames = client.belt.open(input)[Symbol.asyncIterator]();
    await frames.next();
    let isLeft = false;
    const leaving = frames.return?.().then(() => (isLeft = true));
    await settle();
    expect([isLeft, isOver]).toEqual([false, false]);
    release();
    await leaving;
    expect(isOver).toBe(true);
  });

  it("fails as upstream refuses, and is masked when upstream fails otherwise", async () => {
    const { live } = startMill({
      async *belt({ belt: name }) {
        if (name === "no") throw new Refusal("NO_BELT", "there is no such belt");
        yield "one";
        throw new Error("secret");
      },
    });
    const { client } = openProjection(live, belt, (up) => ({ belt: derive.stream(up.belt, (frame) => frame) }));
    await expect(all(client.belt.open({ belt: "no" }))).rejects.toMatchObject({ code: "NO_BELT" });
    await expect(all(client.belt.open(input))).rejects.toMatchObject({ code: "INTERNAL" });
  });

  it("fails with UNAVAILABLE when upstream cannot be reached", async () => {
    const { live } = startMill();
    const gone = async function* (_input: { readonly belt: string }): AsyncGenerator<string> {
      yield "one";
      throw new SurfaceError("DISCONNECTED", 'Using "belt" of surface "mill": it broke');
    };
    const { client } = openProjection(live, belt, (up) => ({
      belt: derive.stream<MillSpec["belt"]["input"], string, string>({ ...up.belt, open: gone }, (frame) => frame),
    }));
    const failure = await all(client.belt.open(input)).catch((cause: unknown) => cause);
    expect(failure).toMatchObject({ code: "UNAVAILABLE" });
    expect((failure as Error).message).not.toContain("mill");
  });

  it("goes on from elsewhere when upstream fails, or ends without a frame", async () => {
    const { live } = startMill({
      async *belt({ belt: name }) {
        if (name === "empty") return;
        yield "one";
        throw new Refusal("BROKEN", "it broke");
      },
    });
    const causes: unknown[] = [];
    const { client } = openProjection(live, belt, (up) => ({
      belt: derive.stream(up.belt, (frame) => frame, {
        async *otherwise(given, { cause, told }) {
          causes.push(cause.code);
          yield `${given.belt} after ${told}`;
        },
      }),
    }));
    expect(await all(client.belt.open(input))).toEqual(["one", "x after 1"]);
    expect(await all(client.belt.open({ belt: "empty" }))).toEqual(["empty after 0"]);
    expect(causes).toEqual(["BROKEN", "ABSENT"]);
  });

  it("goes nowhere else when its reader has left, and when map throws", async () => {
    const { live } = startMill();
    let asked = 0;
    const { client } = openProjection(live, belt, (up) => ({
      belt: derive.stream(
        up.belt,
        (frame, given) => {
          if (given.belt === "bad") throw new Error("secret");
          return frame;
        },
        {
          async *otherwise() {
            asked += 1;
            yield "else";
          },
        },
      ),
    }));
    expect(await take(client.belt.open(input), 1)).toEqual(["x 1"]);
    await expect(all(client.belt.open({ belt: "bad" }))).rejects.toMatchObject({ code: "INTERNAL" });
    await until(() => asked === 0);
  });

  it("fails with UNAVAILABLE when upstream is closed in this process after it has given frames", async () => {
    const { live } = startMill({
      async *belt(_input, { signal }) {
        yield "one";
        await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
      },
    });
    const two = defineSurface("board", {
      plain: stream({ output: z.string() }),
      other: stream({ output: z.string() }),
    });
    const from = { input: (_given: undefined) => input };
    const { client } = openProjection(live, two, (up) => ({
      plain: derive.stream(up.belt, (frame) => frame, from),
      other: derive.stream(up.belt, (frame) => frame, {
        ...from,
        async *otherwise(_input, { cause, told }) {
          yield `${cause.code} after ${told}`;
        },
      }),
    }));
    const plain = client.plain.open(undefined)[Symbol.asyncIterator]();
    const other = client.other.open(undefined)[Symbol.asyncIterator]();
    expect(await Promise.all([plain.next(), other.next()])).toMatchObject([{ value: "one" }, { value: "one" }]);
    const next = Promise.allSettled([plain.next(), other.next()]);
    await live.close();
    expect(await next).toMatchObject([
      { status: "rejected", reason: { code: "UNAVAILABLE" } },
      { status: "fulfilled", value: { done: false, value: "UNAVAILABLE after 1" } },
    ]);
  });
});
