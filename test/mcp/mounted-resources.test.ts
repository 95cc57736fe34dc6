import { afterEach, describe, expect, it } from "vitest";
import { appOfMount } from "../../src/builder/app-of-mount.ts";
import { http } from "../../src/http/index.ts";
import { Shelf } from "../catalog/mounts/mount-shelf.ts";
import { agentKinds } from "../scenarios/support/clients.ts";

const closing: { close(): Promise<unknown> }[] = [];

afterEach(async () => {
  for (const each of closing.splice(0).toReversed()) await each.close();
});

function closed<TClosing extends { close(): Promise<unknown> }>(made: TClosing): TClosing {
  closing.push(made);
  return made;
}

describe("resources that are mounted, on the wire", () => {
  it.each(agentKinds)("are listed, read and watched by a client of $name", async ({ connect }) => {
    const shelf = new Shelf();
    shelf.put("state/hp", 1);
    shelf.put("state/mp", 1);
    shelf.show({ path: "state/hp" }, { path: "state/mp" });
    const app = appOfMount("hero", shelf, { changeWindowMs: 0 });
    const serving = closed(await app.serve(http({ port: 0, exit: false })));
    const agent = closed(await connect({ url: serving.url }));
    const uri = "surface://hero/state/hp";
    expect(await agent.resources()).toEqual([uri, "surface://hero/state/mp"]);
    expect(await agent.read(uri)).toMatchObject({ contents: [{ uri, mimeType: "application/json", text: "1" }] });
    let updates = 0;
    await agent.watch(uri, () => (updates += 1));
    await expect.poll(() => shelf.watchersOf("state/hp")).toBe(1);
    shelf.put("state/mp", 2);
    shelf.put("state/hp", 2);
    await expect.poll(() => updates).toBe(1);
    expect(await agent.read(uri)).toMatchObject({ contents: [{ text: "2" }] });
    shelf.show({ path: "state/mp" });
    await expect.poll(() => updates).toBe(2);
    await expect(agent.read(uri)).rejects.toThrow("not found");
    expect(await agent.resources()).toEqual(["surface://hero/state/mp"]);
    await agent.close();
    await expect.poll(() => shelf.watchersOf("state/hp")).toBe(0);
  });
});
