import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { bundleScript } from "../fixtures/bundle-script.ts";
import { matrix, type MatrixClient } from "./matrix-client.ts";

let script = "";
beforeAll(async () => {
  script = await bundleScript(new URL("siblings-server.ts", import.meta.url), "matrix-siblings");
});

const patience = { timeout: 10_000 };

describe.each(matrix)("one server over two siblings, to $name", { timeout: 60_000 }, ({ connect, notFound }) => {
  describe.each(["together", "apart"])("that are reached %s", (way) => {
    let client: MatrixClient;
    beforeEach(async () => {
      client = await connect(script, [way]);
    });
    afterEach(() => client.close());

    const read = async (uri: string): Promise<unknown> => {
      const { contents } = await client.readResource({ uri });
      return JSON.parse(String(Reflect.get(Object([contents].flat()[0]), "text")));
    };

    it("lists and serves both under names that say whose they are", async () => {
      const { tools } = await client.listTools();
      const names = [tools].flat().map((tool) => Reflect.get(Object(tool), "name"));
      expect(names).toEqual(["drop", "notes_bump", "notes_look", "notes_slow", "pipeline_node_rerun"]);
      expect(await read("surface://ci/pipeline.nodes")).toBe(1);
      expect(await read("surface://ci/notes.nodes")).toBe("one");
      const answer = await client.callTool({ name: "pipeline_node_rerun", arguments: { node: "x" } });
      expect(answer["structuredContent"]).toEqual({ value: "again x" });
    });

    it("says of one that was dropped that it was, and of what never was that it is unknown", async () => {
      const heard: string[] = [];
      await client.watchUris(
        ["surface://ci/notes.nodes", "surface://ci/pipeline.nodes"],
        (uri) => void heard.push(uri),
      );
      expect(await read("surface://ci/notes.nodes")).toBe("one");
      await client.callTool({ name: "drop", arguments: {} });
      await expect.poll(() => heard, patience).toEqual(["surface://ci/notes.nodes"]);
      const tool = await client.callTool({ name: "notes_bump", arguments: {} });
      expect(tool["isError"]).toBe(true);
      expect(JSON.stringify(tool["content"])).toContain(
        "DROPPED: the part of the application that this belongs to was dropped",
      );
      await expect(read("surface://ci/notes.nodes")).rejects.toThrow("was dropped");
      await expect(read("surface://ci/notes.nobody")).rejects.toMatchObject({ code: notFound });
      const { tools } = await client.listTools();
      expect([tools].flat()).toHaveLength(5);
      expect(await read("surface://ci/pipeline.nodes")).toBe(1);
      const answer = await client.callTool({ name: "pipeline_node_rerun", arguments: { node: "y" } });
      expect(answer["structuredContent"]).toEqual({ value: "again y" });
    });

    it("takes a watch of one that was dropped, as what there was and is no more", async () => {
      await client.callTool({ name: "drop", arguments: {} });
      const end = await client.watchUris(["surface://ci/notes.nodes"], () => {});
      await end();
      await expect(client.watchUris(["surface://ci/notes.nobody"], () => {})).rejects.toMatchObject({ code: notFound });
      expect(await read("surface://ci/pipeline.nodes")).toBe(1);
    });
  });
});
