import { describe, expect, it } from "vitest";
import { kDefinition } from "../../../src/builder/app-definition.ts";
import { agent, agents, mcpAgent } from "../../../src/from/agent/index.ts";
import { createTestClient } from "../../../src/testing/index.ts";

const named = (name: string) => agent({ name, run: () => name });

describe("mcpAgent()", () => {
  it("names the server after the first agent, unless its author does", () => {
    const names = [
      mcpAgent(named("solo")),
      mcpAgent(agents(named("first"), named("second"))),
      mcpAgent(agents()),
      mcpAgent(named("solo"), { name: "crew" }),
    ].map((app) => app[kDefinition].options.name);
    expect(names).toEqual(["solo", "first", "agents", "crew"]);
  });

  it("shows each agent under its own name", async () => {
    const client = createTestClient(mcpAgent(agents(named("crew.write"), named("read"))));
    const tools = await client.listTools();
    expect(tools.map((tool) => tool["name"])).toEqual(["crew_write", "read"]);
    await client.close();
  });
});
