import { describe, expect, it } from "vitest";
import { type Connect, joinRedis } from "./redis-clients.ts";
import type { RedisServer } from "./redis-server.ts";

const minute = 60_000;

/** Returns the number of times that a server has run a command. */
async function callsOf(server: RedisServer, command: string): Promise<number> {
  const stats = await server.run("INFO", "commandstats");
  return Number(new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(stats)?.[1] ?? 0);
}

/** Tests that scripts are sent once, and again to a server that has forgotten them. */
export function describeScripts(server: RedisServer, connect: Connect): void {
  describe("scripts", () => {
    it("are sent once when they run often", async () => {
      const { limiter, store } = await joinRedis(server.path, { connect });
      const bucket = { key: "b", cost: 1, size: 1000, msPerToken: minute };
      await Promise.all([limiter.take([bucket]), store.take("m", [{ group: "g", most: 1 }], minute)]);
      await server.run("CONFIG", "RESETSTAT");
      for (let at = 0; at < 50; at += 1)
        await Promise.all([limiter.take([bucket]), store.take("m", [{ group: "g", most: 1 }], minute)]);
      expect(await callsOf(server, "evalsha")).toBeGreaterThanOrEqual(100);
      expect(await callsOf(server, "eval")).toBe(0);
    });

    it("lose nothing and run once when the server forgets them again and again", async () => {
      const [one, other] = [await joinRedis(server.path, { connect }), await joinRedis(server.path, { connect })];
      const work: Promise<unknown>[] = [];
      for (let at = 1; at <= 300; at += 1) {
        const bucket = { key: "c", cost: 1, size: 100, msPerToken: minute };
        const entry = { number: at, text: String(at) };
        work.push(one.log.append("l", entry, { maxEntries: 1000, ttlMs: minute }));
        work.push(other.limiter.take([bucket]).then((wait) => wait === 0));
        if (at % 3 === 0) work.push(server.run("SCRIPT", "FLUSH").then(() => undefined));
        // Replies arrive between two entries.
        await new Promise((resolve) => void setImmediate(resolve));
      }
      const done = (await Promise.all(work)).filter((result) => result !== undefined);
      const [appended, taken] = [done.filter((_, at) => at % 2 === 0), done.filter((_, at) => at % 2 === 1)];
      expect(appended).toEqual(appended.map(() => true));
      expect(taken.filter(Boolean)).toHaveLength(100);
      expect((await one.log.read("l", 299)).map(({ number }) => number)).toEqual([300]);
    });
  });
}
