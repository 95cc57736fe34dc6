import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { bundleScript } from "../fixtures/bundle-script.ts";
import { matrix, type MatrixClient } from "./matrix-client.ts";

let script = "";
beforeAll(async () => {
  script = await bundleScript(new URL("watched-server.ts", import.meta.url), "matrix-watched");
});

const patience = { timeout: 10_000 };

/** Longer than the window of a notice: what has not come by then does not come. */
const quietMs = 400;

describe.each(matrix)("$name", { timeout: 60_000 }, ({ connect, notFound }) => {
  let client: MatrixClient;
  let heard: string[] = [];
  beforeEach(async () => {
    client = await connect(script);
    heard = [];
  });
  afterEach(() => client.close());

  const watch = (uris: readonly string[]): Promise<() => Promise<void>> =>
    client.watchUris(uris, (uri) => void heard.push(uri));

  const call = async (name: string, args: Record<string, unknown>): Promise<unknown> =>
    Reflect.get(Object((await client.callTool({ name, arguments: args }))["structuredContent"]), "value");

  async function read(uri: string): Promise<unknown> {
    const { contents } = await client.readResource({ uri });
    return JSON.parse(String(Reflect.get(Object([contents].flat()[0]), "text")));
  }

  it("hears nothing when nothing changes, and at once when something does", async () => {
    await watch(["quarry://depth"]);
    await sleep(quietMs);
    expect(heard).toEqual([]);
    await call("dig", { times: 1 });
    await expect.poll(() => heard, patience).toEqual(["quarry://depth"]);
    expect(await read("quarry://depth")).toBe(1);
  });

  it("hears of the last of 10,000 changes, and of few between", async () => {
    await watch(["quarry://depth"]);
    const started = performance.now();
    for (let count = 0; count < 10; count += 1) await call("dig", { times: 1000 });
    await sleep(quietMs);
    const windows = Math.ceil((performance.now() - started) / 100);
    expect(heard.length).toBeGreaterThan(0);
    expect(heard.length).toBeLessThanOrEqual(1 + windows);
    expect(await read("quarry://depth")).toBe(10_000);
    // Quiet now: the next one is a change of its own.
    const before = heard.length;
    await call("dig", { times: 1 });
    await expect.poll(() => heard.length, patience).toBe(before + 1);
  });

  it("hears nothing any more when it has ended the watch, and everything when it watches again", async () => {
    const end = await watch(["quarry://depth"]);
    await call("dig", { times: 1 });
    await expect.poll(() => heard.length, patience).toBe(1);
    await end();
    await call("dig", { times: 1 });
    await sleep(quietMs);
    expect(heard).toHaveLength(1);
    await watch(["quarry://depth"]);
    await call("dig", { times: 1 });
    await expect.poll(() => heard.length, patience).toBe(2);
  });

  it("hears of one item among 300, of the key list only when a key comes, and of an item that was not there", async () => {
    const items = Array.from({ length: 300 }, (_none, index) => `quarry://stones/s${index}`);
    await watch([...items, "quarry://stones", "quarry://stones/new"]);
    await call("weigh", { stone: "s7", weight: 2 });
    await expect.poll(() => heard, patience).toEqual(["quarry://stones/s7"]);
    expect(await read("quarry://stones/s7")).toEqual({ weight: 2 });
    await call("weigh", { stone: "new", weight: 3 });
    await expect.poll(() => heard.slice(1).toSorted(), patience).toEqual(["quarry://stones", "quarry://stones/new"]);
    expect(await read("quarry://stones/new")).toEqual({ weight: 3 });
  });

  it("hears of a stream by its input, and of an event", async () => {
    await watch(["quarry://finds/north", "quarry://finds/south", "quarry://blasts"]);
    await call("find", { pit: "north", find: "agate" });
    await expect.poll(() => heard, patience).toEqual(["quarry://finds/north"]);
    expect(await read("quarry://finds/north")).toEqual({ find: "agate" });
    await call("blast", { at: "noon" });
    await expect.poll(() => heard, patience).toEqual(["quarry://finds/north", "quarry://blasts"]);
    expect(JSON.stringify(await read("quarry://blasts"))).toContain("noon");
  });

  it("is not told of what is hidden, nor that it exists", async () => {
    const answers = await Promise.all(
      ["quarry://hidden", "quarry://nowhere"].map((uri) =>
        watch([uri]).then(
          () => "watches",
          (error: unknown) => ({ code: Reflect.get(Object(error), "code") }),
        ),
      ),
    );
    expect(answers).toEqual([{ code: notFound }, { code: notFound }]);
  });
});
