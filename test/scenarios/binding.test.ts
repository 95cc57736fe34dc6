import { describe, expect, it } from "vitest";
import { agentKinds, outcomeOf, type Agent, type AgentKind } from "./support/clients.ts";
import { serveDaemon, withoutWrites, type ServedDaemon } from "./support/serve-daemon.ts";

/** A `fetch` that sends everything behind the handshake to another address. */
function drifting(to: () => string | undefined): typeof fetch {
  return (input, init) => {
    const url = to();
    const isHandshake = typeof init?.body === "string" && init.body.includes('"initialize"');
    return fetch(url === undefined || isHandshake ? input : url, init);
  };
}

async function driftingAgent(
  kind: AgentKind,
  { enter, serving }: ServedDaemon,
): Promise<{ agent: Agent; drift: (name: string) => void }> {
  let url: string | undefined;
  const agent = await enter(kind, "?surface=readonly", { fetch: drifting(() => url) });
  return { agent, drift: (name) => (url = `${serving.url}?surface=${name}`) };
}

describe.each(agentKinds.filter(({ era }) => era === "legacy"))("a session of $name", (kind) => {
  it("stays bound to the view of its handshake, whatever view later requests name", async () => {
    const setting = await serveDaemon();
    const { agent, drift } = await driftingAgent(kind, setting);
    for (const name of ["default", "executor", "workflow", "never"]) {
      drift(name);
      expect(await agent.tools()).toEqual(withoutWrites);
      expect(await outcomeOf(agent.call("bro_exec"), "bro_exec")).toContain("there is no such tool");
      expect(await outcomeOf(agent.read("surface://blackbox/threads"))).toContain("thread-1");
    }
    expect(setting.ran).toEqual([]);
  });
});

describe.each(agentKinds.filter(({ era }) => era === "modern"))("a request of $name", (kind) => {
  it("is served by the view that it names itself, since there is no handshake to be bound by", async () => {
    const setting = await serveDaemon();
    const { agent, drift } = await driftingAgent(kind, setting);
    expect(await agent.tools()).toEqual(withoutWrites);
    drift("executor");
    expect(await agent.call("bro_exec", { text: "go" })).toMatchObject({ structuredContent: { value: "go" } });
    drift("readonly");
    expect(await outcomeOf(agent.call("bro_exec"), "bro_exec")).toContain("there is no such tool");
    drift("workflow");
    expect(await outcomeOf(agent.call("bbox_knowledge"))).toContain("only dispatched workflows come by this");
    expect(setting.ran).toEqual(["bro_exec"]);
  });
});
