import { describe, expect, it } from "vitest";
import * as z from "zod";
import { cell } from "../../../src/surface/define-members.ts";
import { defineSurface } from "../../../src/surface/define-surface.ts";
import { kPushed, type PushedOrigin, type Reading } from "../../../src/surface/reading.ts";
import { openLive, settle } from "../support.ts";
import { fail, failureOf, Pushed, stale, step } from "./pushed.ts";

/** A live cell of numbers that a test pushes, and answers reads of. */
async function openPushed(read: PushedOrigin<unknown>["read"]) {
  const pushed = new Pushed<Reading>();
  const surface = defineSurface("s", { value: cell({ schema: z.number() }) });
  const handlers = { value: { [kPushed]: { open: (signal: AbortSignal) => pushed.run(signal), read } } };
  return { pushed, ...(await openLive(surface, handlers as never)) };
}

describe("a pushed cell that can be read while it is watched", () => {
  it("get() tells what there is after it was called, and a watch goes on with its own, when that is behind", async () => {
    let now = 1;
    const { pushed, client } = await openPushed(async () => ({ value: now }));
    const values = step(client.value.readings());
    const first = values.next();
    await settle();
    expect(await client.value.get()).toBe(1);
    pushed.push({ value: 1 });
    await first;
    now = 2;
    expect(await client.value.reading()).toEqual({ value: 2 });
    const next = values.next();
    pushed.push({ value: 2 });
    expect(await next).toEqual({ value: 2 });
    await values.leave();
  });

  it("get() falls back to what the watch knows, marked for its caller alone, when its read fails", async () => {
    const answers: (() => unknown)[] = [fail, () => ({ value: "x" }), fail, () => ({ value: 2 })];
    const read = async (): Promise<Reading> => (answers.shift() ?? fail)() as Reading;
    const { pushed, client, faults } = await openPushed(read);
    const values = step(client.value.readings());
    const first = values.next();
    await settle();
    pushed.push({ value: 1 });
    await first;
    expect(await client.value.reading()).toEqual(stale(1, "lost"));
    expect(await client.value.reading()).toEqual(stale(1, "invalid"));
    expect(await client.value.reading()).toEqual(stale(1, "lost"));
    expect(faults).toHaveLength(2);
    expect(await client.value.reading()).toEqual({ value: 2 });
    const next = values.next();
    pushed.push({ value: 3 });
    expect(await next).toEqual({ value: 3 });
    await values.leave();
  });

  it("get() fails as its read does when its watch has not told anything", async () => {
    const answers: (() => unknown)[] = [fail, () => ({ value: "x" })];
    const read = async (): Promise<Reading> => (answers.shift() ?? fail)() as Reading;
    const { client, faults } = await openPushed(read);
    const values = step(client.value.watch());
    void values.next();
    await settle();
    expect(await failureOf(client.value.get())).toMatchObject({ code: "INTERNAL" });
    expect(await failureOf(client.value.get())).toMatchObject({ code: "INVALID_OUTPUT", issues: [] });
    expect(faults).toHaveLength(2);
  });

  it("get() reads nothing while the watch knows that it is lost, and waits for no read once it does", async () => {
    let reads = 0;
    const read = (): Promise<Reading> => {
      reads += 1;
      return new Promise(() => {});
    };
    const { pushed, client, faults } = await openPushed(read);
    const values = step(client.value.watch());
    const first = values.next();
    await settle();
    pushed.push({ value: 1 });
    await first;
    const hanging = client.value.reading();
    await settle();
    pushed.fail(new Error("secret"));
    expect(await hanging).toEqual(stale(1, "lost"));
    expect(await client.value.reading()).toEqual(stale(1, "lost"));
    expect(reads).toBe(1);
    expect(faults).toHaveLength(1);
    await values.leave();
  });

  it("get() tells what one that began later has told already when it is watched", async () => {
    const answers: ((reading: Reading) => void)[] = [];
    const read = (): Promise<Reading> => new Promise((resolve) => void answers.push(resolve));
    const { pushed, client } = await openPushed(read);
    const values = step(client.value.watch());
    const first = values.next();
    await settle();
    pushed.push({ value: 1 });
    await first;
    const slow = client.value.get();
    const quick = client.value.get();
    await settle();
    answers[1]?.({ value: 3 });
    expect(await quick).toBe(3);
    answers[0]?.({ value: 2 });
    expect(await slow).toBe(3);
    await values.leave();
  });

  it("get() rejects at once when its signal fires, or the surface closes, while it reads beside a watch", async () => {
    const { client, live, faults } = await openPushed(() => new Promise(() => {}));
    void step(client.value.watch()).next();
    const controller = new AbortController();
    const aborted = failureOf(client.value.get({ signal: controller.signal }));
    const closed = failureOf(client.value.get());
    await settle();
    controller.abort();
    expect(await aborted).toMatchObject({ code: "ABORTED" });
    await live.close();
    expect(await closed).toMatchObject({ code: "CLOSED" });
    expect(faults).toEqual([]);
  });

  it("get() tells what it has read when a watch begins at any turn of its read", async () => {
    const { pushed, client } = await openPushed(async () => ({ value: 1 }));
    for (let turns = 0; turns < 30; turns += 1) {
      const reading = failureOf(client.value.get());
      for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
      const values = step(client.value.watch());
      const first = values.next();
      await settle();
      pushed.push({ value: 1 });
      expect([turns, await reading, await first]).toEqual([turns, { answered: 1 }, 1]);
      await values.leave();
    }
  });
});
