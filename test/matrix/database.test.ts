import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { bundleScript } from "../fixtures/bundle-script.ts";
import { matrix, type MatrixClient } from "./matrix-client.ts";

let script = "";
beforeAll(async () => {
  script = await bundleScript(new URL("database-server.ts", import.meta.url), "matrix-database");
});

const patience = { timeout: 20_000 };

async function read(client: MatrixClient, uri: string): Promise<unknown> {
  const { contents } = await client.readResource({ uri });
  return JSON.parse(String(Reflect.get(Object([contents].flat()[0]), "text")));
}

// One client of each era: that every client reads alike is tested elsewhere.
describe.each(matrix.filter(({ name }) => name === "SDK 1.x" || name === "SDK 2.x, modern"))(
  "two processes over one database, one of them subscribed, by $name",
  { timeout: 60_000 },
  ({ connect }) => {
    it("both read the other's latest write, and the subscriber is notified", async () => {
      const folder = await mkdtemp(join(tmpdir(), "surface-mcp-database-"));
      onTestFinished(() => rm(folder, { recursive: true, force: true }));
      const path = join(folder, "rows.json");
      await writeFile(path, JSON.stringify(["a"]));
      const [one, other] = await Promise.all([connect(script, [path]), connect(script, [path])]);
      onTestFinished(async () => void (await Promise.all([one.close(), other.close()])));
      const heard = new Set<string>();
      const uris = ["surface://shop/count", "surface://shop/rows", "surface://shop/rows?limit=1&after=1"];
      await one.watchUris(uris, (uri) => void heard.add(uri));
      for (const [index, row] of ["b", "c", "d"].entries()) {
        await other.callTool({ name: "add", arguments: { row } });
        const id = index + 1;
        expect([await read(one, "surface://shop/count"), await read(one, `surface://shop/rows/${id}`)]).toEqual([
          id + 1,
          row,
        ]);
        const { items } = Object(await read(one, "surface://shop/rows")) as { items: unknown[] };
        expect(items[id]).toEqual({ key: id, item: row });
      }
      await one.callTool({ name: "add", arguments: { row: "e" } });
      expect(await read(other, "surface://shop/count")).toBe(5);
      expect(await read(other, "surface://shop/rows?after=3&limit=1")).toEqual({
        items: [{ key: 3, item: "d" }],
        next: "4",
      });
      await expect.poll(() => [...heard].toSorted(), patience).toEqual(uris.toSorted());
    });
  },
);
