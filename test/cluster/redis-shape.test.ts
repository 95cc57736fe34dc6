import { describe, expect, it } from "vitest";
import { redis } from "../../src/redis/redis.ts";

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

  it.each(["", "a b", "x".repeat(65), "a*", 1, null])("refuses the prefix %j when it is not a plain text", (prefix) => {
    expect(() => redis(ioredis, { prefix } as never)).toThrow(expect.objectContaining({ code: "INVALID_OPTION" }));
  });
});
