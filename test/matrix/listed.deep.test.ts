import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { bundleScript } from "../fixtures/bundle-script.ts";
import { matrix, type MatrixClient } from "./matrix-client.ts";

let script = "";
let unlisted = "";
beforeAll(async () => {
  script = await bundleScript(new URL("listed-server.ts", import.meta.url), "matrix-listed");
  unlisted = await bundleScript(new URL("watched-server.ts", import.meta.url), "matrix-unlisted");
});

const patience = { timeout: 10_000 };

/** Longer than the window of a notice: what has not come by then does not come. */
const quietMs = 400;

describe.each(matrix)("$name", { timeout: 60_000 }, ({ connect, notFound }) => {
  let client: MatrixClient;
  let heard = 0;
  beforeEach(async () => {
    client = await connect(script);
    heard = 0;
  });
  afterEach(() => client.close());

  const put = async (into: string, ...keys: string[]): Promise<void> =>
    void (await client.callTool({ name: "put", arguments: { into, keys, weight: Math.max(2, keys.length) } }));

  async function list(): Promise<readonly string[]> {
    const { resources } = await client.listResources();
    return [resources].flat().map((each) => String(Reflect.get(Object(each), "uri")).replace("depot://", ""));
  }

  it("lists the items of the one collection that was asked for, and reads them", async () => {
    expect(client.announcesList()).toBe(true);
    expect(await list()).toEqual(["crates", "crates/a", "plain"]);
    await put("crates", "b c", "\u00e4");
    expect(await list()).toEqual(["crates", "crates/%C3%A4", "crates/b%20c", "plain"]);
    const { contents } = await client.readResource({ uri: "depot://crates/b%20c" });
    expect(JSON.stringify(contents)).toContain('{\\"weight\\":2}');
  });

  it("hears when an item comes or goes, and of nothing else", async () => {
    await client.watchList(() => void (heard += 1));
    expect(await list()).toEqual(["crates", "crates/a", "plain"]);
    // Another value, another order, other collections: the list stays as it is.
    await put("crates", "a");
    await put("plain", "x", "y");
    await put("hidden", "x", "y");
    await sleep(quietMs);
    expect(heard).toBe(0);
    await put("crates", "a", "b");
    await expect.poll(() => heard, patience).toBe(1);
    expect(await list()).toEqual(["crates", "crates/a", "crates/b", "plain"]);
    await sleep(quietMs);
    await put("crates", "b", "a");
    await sleep(quietMs);
    expect(heard).toBe(1);
    await put("crates");
    await expect.poll(() => heard, patience).toBe(2);
    expect(await list()).toEqual(["crates", "plain"]);
  });

  it("hears of the last of many changes, and of few between", async () => {
    await client.watchList(() => void (heard += 1));
    await list();
    const started = performance.now();
    for (let count = 0; count < 100; count += 1) await put("crates", `k${count}`);
    await sleep(quietMs);
    const windows = Math.ceil((performance.now() - started) / 100);
    expect(heard).toBeGreaterThan(0);
    expect(heard).toBeLessThanOrEqual(1 + windows);
    expect(await list()).toEqual(["crates", "crates/k99", "plain"]);
  });

  it("finds items of no other collection, by whatever URI", async () => {
    await put("hidden", "a");
    await expect(client.readResource({ uri: "depot://hidden/a" })).rejects.toMatchObject({ code: notFound });
    expect(JSON.stringify(await client.listResources())).not.toContain("hidden");
  });

  it("is not told that a list changes where it never does", async () => {
    const other = await connect(unlisted);
    expect(other.announcesList()).toBe(false);
    await other.close();
  });
});
