import { describe, expect, it } from "vitest";
import { mcpAgent } from "../../src/builder/mcp-agent.ts";
import { mcp } from "../../src/builder/mcp.ts";
import { operationRegistry } from "../../src/catalog/mounts/operation-registry.ts";
import { agent } from "../../src/from/agent/agent.ts";
import { invoker } from "../../src/from/invoker/invoker.ts";
import { defineSurface } from "../../src/surface/define-surface.ts";
import { createTestClient } from "../../src/testing/test-client.ts";

const app = () =>
  mcp(defineSurface("world", {}))
    .implement({})
    .mount(
      "machine",
      operationRegistry([
        [{ name: "turn-off" }, () => "off"],
        [{ name: "turn_off" }, () => "another"],
        [{ name: "parts.top-up", canCall: ["machine.turn-*"] }, (_input, { call }) => call("machine.turn-off")],
      ]),
    )
    .mount("old", invoker({ list: () => [{ name: "get-weather" }, { name: "fs.read-all" }], invoke: (name) => name }));

describe("a mounted name with a dash", () => {
  it("A19 keeps it on the wire, and differs from the same name with an underscore", async () => {
    const client = createTestClient(app());
    expect(await client.toolNames()).toEqual([
      "machine_parts_top-up",
      "machine_turn-off",
      "machine_turn_off",
      "old_fs_read-all",
      "old_get-weather",
    ]);
    expect(await client.tools["machine_turn-off"]?.()).toMatchObject({ structured: { value: "off" } });
    expect(await client.tools["machine_parts_top-up"]?.()).toMatchObject({ structured: { value: "off" } });
    expect((await client.tools["old_get-weather"]?.())?.text).toBe("get-weather");
    await client.close();
  });

  it("A19 is found by patterns of views, which tell it from a name with an underscore", async () => {
    const client = createTestClient(app().views({ only: { allow: ["machine.turn-*", "old_get-weather"] } }), {
      view: "only",
    });
    expect(await client.toolNames()).toEqual(["machine_turn-off", "old_get-weather"]);
    await client.close();
  });

  it("A19 may be an agent", async () => {
    const client = createTestClient(mcpAgent(agent({ name: "write-up", run: () => ({ ok: true }) })));
    expect(await client.toolNames()).toEqual(["write-up"]);
    expect(await client.tools["write-up"]?.()).toMatchObject({ structured: { ok: true } });
    await client.close();
  });
});
