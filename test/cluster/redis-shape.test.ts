import { describe, expect, it, vi } from "vitest";
import { redis } from "../../src/redis/redis.ts";
import { atEndOfTest } from "../setup/end-of-test.ts";
import { until } from "./until.ts";

const method = (): void => {};
const ioredis = { status: "ready", call: async () => null, duplicate: () => ({}), on: method };

describe("redis()", () => {
  it.each([
    ["nothing", undefined],
    ["an address", "redis://localhost"],
    ["options", { host: "localhost" }],
    ["a cluster of ioredis", { ...ioredis, isCluster: true }],
    ["a cluster of node-redis", { isOpen: true, sendCommand: method, duplicate: method, on: method, connect: method }],
    ["a client of HTTP", { get: method, set: method }],
  ])("refuses %s with INVALID_OPTION when it is no client of one Redis", (_what, client) => {
    expect(() => redis(client as never)).toThrow(expect.objectContaining({ code: "INVALID_OPTION" }));
  });

  it("leaves no timer, and ready rejects, when it is closed before Redis was reached", async () => {
    vi.useFakeTimers();
    atEndOfTest(() => vi.useRealTimers());
    const duplicate = { on: method, connect: () => new Promise(method), disconnect: method };
    const client = { ...ioredis, status: "connecting", off: method, duplicate: () => duplicate };
    const cluster = redis(client);
    const [one, two] = [1, 2].map(() => cluster.open({ app: "app", report: method }));
    await Promise.all([one?.close(), two?.close()]);
    expect(vi.getTimerCount()).toBe(0);
    await expect(one?.ready).rejects.toThrow(expect.objectContaining({ code: "UNAVAILABLE" }));
  });

  it("names Redis, and the failed system call, when it was not reached in time", async () => {
    vi.useFakeTimers();
    atEndOfTest(() => vi.useRealTimers());
    const refused = Object.assign(new Error("connect ECONNREFUSED 127.0.0.1:6379"), { code: "ECONNREFUSED" });
    const duplicate = { on: method, connect: () => Promise.reject(refused), disconnect: method };
    const cluster = redis({ ...ioredis, status: "connecting", off: method, duplicate: () => duplicate } as never);
    const opened = cluster.open({ app: "app", report: method });
    await vi.advanceTimersByTimeAsync(5000);
    await expect(opened.ready).rejects.toMatchObject({
      code: "UNAVAILABLE",
      message: "Cannot reach Redis: ECONNREFUSED; is it running?",
    });
    await opened.close();
  });

  it("is not available when it is connected to a Redis that has taken no sign of life yet", async () => {
    let calls = 0;
    const call = (): Promise<unknown> => {
      calls++;
      return Promise.reject(new Error("LOADING Redis is loading the dataset in memory"));
    };
    const subscriber = { on: method, connect: async () => {}, subscribe: async () => 1, disconnect: method };
    const cluster = redis({ ...ioredis, call, off: method, duplicate: () => subscriber } as never);
    const opened = cluster.open({ app: "app", report: method });
    await until(() => calls > 0);
    await new Promise((resolve) => setImmediate(resolve));
    expect(cluster.isAvailable).toBe(false);
    await opened.close();
  });

  it.each(["is closed", "is opened again"])(
    "takes no sign of life of one app for that of the next when it %s before the answer",
    async (when) => {
      const answers: (() => void)[] = [];
      let owner: unknown;
      const call = async (command: string, args: readonly unknown[]): Promise<unknown> => {
        if (command !== "EVALSHA") return 1;
        owner ??= args[5];
        await new Promise<void>((resolve) => answers.push(resolve));
        return [owner, 0];
      };
      const subscriber = {
        on: (event: string, listener: () => void) => void (event === "ready" && setImmediate(listener)),
        ...{ connect: async () => {}, subscribe: async () => 1, disconnect: method },
      };
      const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
      const cluster = redis({ ...ioredis, call, off: method, duplicate: () => subscriber } as never);
      const first = cluster.open({ app: "first", report: method });
      await until(() => answers.length === 1);
      const closing = first.close();
      if (when === "is closed") {
        answers[0]?.();
        await closing;
        await turn();
      }
      const second = cluster.open({ app: "second", report: method });
      answers[0]?.();
      await until(() => answers.length === 2);
      // It has subscribed by then.
      for (let turns = 0; turns < 3; turns++) await turn();
      answers[1]?.();
      await expect(second.ready).rejects.toThrow(expect.objectContaining({ code: "INVALID_OPTION" }));
      await second.close();
    },
  );

  it.each(["", "a b", "x".repeat(65), "a*", 1, null])("refuses the prefix %j when it is not a plain text", (prefix) => {
    expect(() => redis(ioredis, { prefix } as never)).toThrow(expect.objectContaining({ code: "INVALID_OPTION" }));
  });
});
