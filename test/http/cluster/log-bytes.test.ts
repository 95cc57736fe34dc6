import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Cluster } from "../../../src/cluster/cluster.ts";
import { joinRedis } from "../../cluster/redis-clients.ts";
import { hasRedis, RedisServer, whyNoRedis } from "../../cluster/redis-server.ts";
import { ask, callOf, closeThree, end, get, initialize, openThree, post, until } from "./replicas.ts";

const mebibyte = 1024 * 1024;
/** Bytes of an answer of `fill`, about. */
const answerBytes = 200_000;

/** The logs of all replicas, through the port that they write to. */
class Logs {
  readonly #keys = new Map<string, Cluster["log"]>();
  #writing = 0;

  wrap(cluster: Cluster): Cluster {
    const { log } = cluster;
    const append: typeof log.append = (key, entry, bounds) => {
      this.#keys.set(key, log);
      this.#writing += 1;
      return log.append(key, entry, bounds).finally(() => (this.#writing -= 1));
    };
    return Object.defineProperty(cluster, "log", { value: { ...log, append } });
  }

  async bytes(): Promise<number> {
    await until(() => this.#writing === 0);
    let bytes = 0;
    for (const [key, log] of this.#keys) {
      for (let after = 0; ;) {
        const entries = await log.read(key, after);
        for (const { text } of entries) bytes += text.length;
        if (entries.length === 0) break;
        after = entries.at(-1)?.number ?? 0;
      }
    }
    return bytes;
  }
}

const server = new RedisServer();
const stores = hasRedis ? ["memory", "Redis"] : ["memory"];

describe.each(stores)(`the bytes of logs in %s${whyNoRedis}`, (store) => {
  beforeAll(() => (store === "Redis" ? server.start() : undefined));
  beforeEach(() => (store === "Redis" ? void server.run("FLUSHALL") : undefined));
  afterEach(closeThree);
  afterAll(() => (store === "Redis" ? server.remove() : undefined));

  const open = async (logs: Logs, options: Parameters<typeof openThree>[0]): ReturnType<typeof openThree> => {
    const app = "steps";
    const clusters = store === "Redis" ? [1, 2, 3].map(() => joinRedis(server.path, { app })) : [];
    const joined = await Promise.all(clusters);
    return openThree({ isKnown: true, ...options, wrap: (own) => logs.wrap(joined.pop() ?? own) });
  };

  it("are those that the replica keeps, however many answers a client has read", async () => {
    const logs = new Logs();
    const { a } = await open(logs, {});
    const session = await initialize(a, "ada");
    for (let at = 0; at < 12; at += 1) {
      const filled = await ask(a, callOf(at, "fill"), { session, token: "ada" });
      expect(filled.text.length).toBeGreaterThan(answerBytes);
    }
    expect(await logs.bytes()).toBeLessThan(3 * answerBytes);
  });

  it("are those that the replica keeps, however many answers no client has read", async () => {
    const logs = new Logs();
    const { a, b } = await open(logs, { limits: { logBytes: { perCaller: mebibyte } } });
    const lost: { readonly session: string; readonly lastId: string | undefined }[] = [];
    a.walks.fill = "x".repeat(answerBytes);
    for (let at = 0; at < 8; at += 1) {
      const session = await initialize(a, "ada");
      const walking = await post(a, callOf(at, "walk"), { session, token: "ada" });
      await until(() => a.walks.waiting === 1 && walking.text !== "");
      lost.push({ session, lastId: walking.text.match(/^id: (.*)$/m)?.[1] });
      walking.cut();
      a.walks.go(true);
    }
    expect(await logs.bytes()).toBeLessThan(mebibyte + 2 * answerBytes);
    // The last answer is kept, the first is announced as missing, once.
    const [first, last] = [lost[0], lost.at(-1)];
    const kept = await get(b, { ...last, token: "ada" });
    await kept.over();
    expect(kept.methods).toEqual(["result"]);
    const gone = await get(b, { ...first, token: "ada" });
    await gone.over();
    expect(gone.methods).toEqual(["notifications/resources/list_changed"]);
    expect((await get(b, { ...first, lastId: gone.lastId, token: "ada" })).status).toBe(204);
  });

  it("are dropped also while a client reads on at another replica, which ends the stream", async () => {
    const logs = new Logs();
    const { a, b, hub } = await open(logs, { limits: { logBytes: { perCaller: answerBytes } } });
    const [session, other] = [await initialize(a, "ada"), await initialize(a, "ada")];
    const walking = await post(a, callOf(1, "walk"), { session, token: "ada" });
    await until(() => a.walks.waiting === 1 && walking.text !== "");
    const lastId = walking.text.match(/^id: (.*)$/m)?.[1];
    walking.cut();
    // It looks into the log now and then.
    hub.drop(() => true);
    const reading = await get(b, { session, token: "ada", lastId });
    await new Promise((resolve) => setTimeout(resolve, 50));
    a.walks.go(true);
    await ask(a, callOf(2, "fill"), { session: other, token: "ada" });
    await reading.over();
    expect(["result", "notifications/resources/list_changed"]).toContain(reading.methods.join());
    expect((await get(b, { session, token: "ada", lastId: reading.lastId })).status).toBe(204);
  });

  it("are none of a session that its client has ended", async () => {
    const logs = new Logs();
    const { a, b } = await open(logs, {});
    for (let at = 0; at < 6; at += 1) {
      const session = await initialize(a, "ada");
      await ask(a, callOf(1, "fill"), { session, token: "ada" });
      expect((await end(at % 2 === 0 ? a : b, { session, token: "ada" })).status).toBe(200);
    }
    await until(async () => (await logs.bytes()) < answerBytes);
  });

  it("are kept of a replica that closes", async () => {
    const logs = new Logs();
    const { a, b } = await open(logs, {});
    const session = await initialize(a, "ada");
    const filled = await ask(a, callOf(1, "fill"), { session, token: "ada" });
    const lastId = filled.text.match(/^id: (.*)$/m)?.[1];
    await a.serving.close();
    const again = await get(b, { session, token: "ada", lastId });
    await again.over();
    expect(again.methods).toEqual(["result"]);
  });
});
