import { Buffer } from "node:buffer";
import { afterEach, describe, expect, it } from "vitest";
import { anonymous, type Caller } from "../../../src/catalog/caller.ts";
import { ByteBudget } from "../../../src/http/body/byte-budget.ts";
import { createAdmission } from "../../../src/http/create-admission.ts";
import { bearer, http, type HttpServing } from "../../../src/http/index.ts";
import { resolveHandlerOptions } from "../../../src/http/resolve-options.ts";
import { head, RawClient } from "../node/raw-client.ts";
import { createDemo, type Demo } from "../support/demo-app.ts";
import { modernPost } from "../support/modern-post.ts";

const alice: Caller = { id: "alice", isAnonymous: false, scopes: [] };
const bob: Caller = { ...alice, id: "bob" };

describe("ByteBudget", () => {
  const create = (): ByteBudget => new ByteBudget({ all: 20, perPrincipal: 8, anonymous: 10 });

  it("bounds what one caller has, what all who are anonymous have, and what all have", () => {
    const budget = create();
    const [hers, his, theirs] = [alice, bob, anonymous].map((caller) => budget.open(caller));
    expect([hers?.take(8), hers?.take(1)]).toEqual([true, false]);
    expect(hers?.refused).toEqual({ scope: "principal", limit: 8 });
    expect([theirs?.take(10), budget.open(anonymous).take(1)]).toEqual([true, false]);
    expect([his?.take(2), his?.take(1)]).toEqual([true, false]);
    expect(his?.refused).toEqual({ scope: "global", limit: 20 });
    expect(budget.taken).toBe(20);
  });

  it("takes back what a body took when the last who held it lets go, once", () => {
    const budget = create();
    const bytes = budget.open(alice);
    const [first, second] = [bytes.hold(), bytes.hold()];
    bytes.take(8);
    first();
    first();
    expect(budget.taken).toBe(8);
    second();
    second();
    expect(budget.taken).toBe(0);
    expect(budget.open(alice).take(8)).toBe(true);
  });

  it("holds what a request took for as long as it waits or runs", () => {
    const budget = create();
    const admission = createAdmission(resolveHandlerOptions({ maxInFlight: 1 }).bounds);
    const ends: (() => void)[] = [];
    const ask = () => {
      const bytes = budget.open(alice);
      const letGo = bytes.hold();
      bytes.take(2);
      const turning = admission.take({ caller: alice, bytes }, "calls", (done) => void ends.push(done));
      letGo();
      return turning;
    };
    ask();
    const second = ask();
    ask();
    expect(budget.taken).toBe(6);
    expect([second?.withdraw(), second?.withdraw()]).toEqual([true, false]);
    expect(budget.taken).toBe(4);
    ends[0]?.();
    expect(budget.taken).toBe(2);
    ends[1]?.();
    expect(budget.taken).toBe(0);
  });
});

/** A body as it is sent, and how long it was said to be. */
interface Sent {
  readonly body: string;
  readonly bytes: number;
}

describe("a server over HTTP", () => {
  const opened: { close(): Promise<unknown> | void }[] = [];
  afterEach(async () => {
    for (const one of opened.splice(0).toReversed()) await one.close();
  });

  const resource = "https://demo.example/mcp";
  const mebibyte = 1024 * 1024;

  async function serve(demo: Demo): Promise<HttpServing> {
    const verify = async (id: string) => ({ id, scopes: ["demo:read"], resource });
    const serving = await http({ exit: false, auth: bearer({ resource, verify }) }).serve(demo.app);
    opened.push(serving);
    return serving;
  }

  function send({ port }: HttpServing, caller: string, { body, bytes }: Sent): RawClient {
    const client = new RawClient(port);
    opened.push({ close: () => void client.socket.destroy() });
    const mirrors = ["mcp-protocol-version: 2026-07-28", "mcp-method: tools/call", "mcp-name: sleep"];
    const about = [`authorization: Bearer ${caller}`, `content-length: ${bytes}`, "content-type: application/json"];
    client.send(head("POST", ...about, ...mirrors), body);
    return client;
  }

  const text = ({ body }: RequestInit): string => (typeof body === "string" ? body : "");
  const status = async (client: RawClient): Promise<string> => (await client.until("\r\n\r\n")).slice(9, 12);

  it("refuses a caller whose bodies take too much, with 429, and serves another, until there is room again", async () => {
    const demo = createDemo();
    const serving = await serve(demo);
    const call = text(modernPost("tools/call", { name: "sleep", arguments: { ms: 60_000 } }));
    const most = 4 * mebibyte;
    const whole = call + " ".repeat(most - Buffer.byteLength(call));
    // Half of them are complete, and run; the others are still read.
    const running = Array.from({ length: 4 }, () => send(serving, "alice", { bytes: most, body: whole }));
    const coming = Array.from({ length: 3 }, () => send(serving, "alice", { bytes: most, body: whole.slice(0, -1) }));
    await until(() => demo.sleeping() === running.length && serving.stats().stages.body === 7);
    // What is read from a socket is counted when it was: the last of them is large enough to be refused in any case.
    const refused = [
      send(serving, "alice", { bytes: most, body: whole }),
      send(serving, "alice", { bytes: most, body: whole }),
    ];
    const answers = await Promise.race(refused.map((client) => client.until("\r\n\r\n")));
    expect(answers).toContain("429 Too Many Requests");
    expect(answers.toLowerCase()).toContain("retry-after: 1");
    const quick = text(modernPost("tools/call", { name: "sleep", arguments: { ms: 1 } }));
    expect(await status(send(serving, "bob", { bytes: Buffer.byteLength(quick), body: quick }))).toBe("200");
    for (const client of [...running, ...coming, ...refused]) client.socket.destroy();
    await until(() => demo.sleeping() === 0);
    expect(await status(send(serving, "alice", { bytes: Buffer.byteLength(quick), body: quick }))).toBe("200");
  });

  async function until(is: () => boolean): Promise<void> {
    while (!is()) await new Promise((resolve) => setTimeout(resolve, 5));
  }
});
