import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { http, type HttpServing } from "../../../src/http/http.ts";
import { bundleScript } from "../../fixtures/bundle-script.ts";
import { createCrew } from "./crew.ts";
import { crewClients, type CrewClient, type CrewEntry } from "./crew-client.ts";

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

let script = "";
let serving: HttpServing | undefined;
beforeAll(async () => {
  script = await bundleScript(new URL("crew-server.ts", import.meta.url), "agent-crew");
  serving = await http({ port: 0, exit: false }).serve(createCrew());
});
afterAll(() => serving?.close());

const ways = crewClients.flatMap(({ name, connect }) => [
  {
    name: `${name} over stdio`,
    isModern: name.endsWith("modern"),
    connect: (): ReturnType<CrewEntry["connect"]> => connect({ script }),
  },
  {
    name: `${name} over HTTP`,
    isModern: name.endsWith("modern"),
    connect: (): ReturnType<CrewEntry["connect"]> => connect({ url: serving?.url ?? "" }),
  },
]);

interface Counted {
  readonly runId: string;
  readonly seen: readonly string[];
}

describe.each(ways)("$name", { timeout: 30_000 }, ({ isModern, connect }) => {
  let client: CrewClient;
  beforeAll(async () => {
    client = await connect();
  });
  afterAll(() => client.close());

  it("receives the steps of an agent before its result, and nothing after it (D11)", async () => {
    client.heard();
    const result = await client.callTool("count", { mine: "a" }, { onprogress() {} });
    await sleep(50);
    // As they came in: clients tell no more of progress once the result has come, and both may come at once.
    expect(client.heard()).toMatchObject([
      { progress: 1, message: "llm_call_started: echo-1", _meta: { "surface-mcp/step": { kind: "llm_call_started" } } },
      { progress: 2, _meta: { "surface-mcp/step": { kind: "llm_call_completed", tokens: 42, latencyMs: 180 } } },
      { progress: 3, message: "tool_call_started: search" },
      { progress: 4, message: "tool_call_completed: search" },
      "result",
    ]);
    expect(result["_meta"]).toMatchObject({ "surface-mcp/tokens": 42 });
  });

  it("receives the last step of an agent also when its result follows at once (D11)", async () => {
    let received = 0;
    // A client that did not read for a while, as on a busy machine, gets both in one piece, and drops the step.
    for (let run = 0; received < 20; run += 1) {
      let last: string | undefined;
      await client.callTool("count", { mine: "b" }, { onprogress: ({ message }) => void (last = message) });
      await sleep(5);
      if (last === "tool_call_completed: search") received += 1;
      expect(run).toBeLessThan(200);
    }
  });

  it("receives only the result without a progress token (D11)", async () => {
    client.heard();
    await client.callTool("count", { mine: "a" });
    await sleep(20);
    expect(client.heard()).toEqual(["result"]);
  });

  it("makes concurrent calls that share nothing, each with its own run id (D14)", async () => {
    const names = Array.from({ length: 20 }, (_, index) => `call ${index}`);
    const results = await Promise.all(names.map((mine) => client.callTool("count", { mine })));
    // The output schema says so.
    const counted = results.map(({ structuredContent }) => structuredContent as Counted);
    expect(counted.map(({ seen }) => seen)).toEqual(names.map((mine) => [mine, mine]));
    const ids = counted.map(({ runId }) => runId);
    expect(results.map(({ _meta }) => _meta)).toMatchObject(ids.map((runId) => ({ "surface-mcp/runId": runId })));
    expect(new Set(ids).size).toBe(20);
  });

  it("learns which run failed, and not why (D14)", async () => {
    const result = await client.callTool("fails");
    expect(result).toMatchObject({
      isError: true,
      _meta: { "surface-mcp/runId": expect.stringMatching(uuid), "surface-mcp/tokens": 7 },
    });
    expect(JSON.stringify(result)).not.toContain("secret");
  });

  it("finds the memory of an agent empty each time (D15)", async () => {
    for (let call = 0; call < 2; call += 1) {
      const { structuredContent } = await client.callTool("memory");
      expect(structuredContent).toEqual({ had: false, isNew: true });
    }
  });

  it("ends a run by cancelling it, and its finally with it (D14)", async () => {
    const mine = `cancelled ${Math.random()}`;
    const controller = new AbortController();
    let count = 0;
    const onprogress = (): void => {
      count += 1;
      if (count === 3) controller.abort();
    };
    await expect(client.callTool("hold", { mine }, { signal: controller.signal, onprogress })).rejects.toThrow(
      /abort/i,
    );
    await expect.poll(async () => JSON.stringify(await client.callTool("ended"))).toContain(mine);
  });

  it("answers a question of an agent, which continues with the answer", async () => {
    const { structuredContent, _meta } = await client.callTool("ask");
    expect(structuredContent).toEqual({ runId: expect.stringMatching(uuid), text: "a rose", said: "accept" });
    // The output schema says so.
    const { runId } = structuredContent as Counted;
    expect(_meta).toMatchObject({ "surface-mcp/runId": runId });
    // In the modern era it is run again from its beginning with each answer, and is the same run.
    const { begun } = (await client.callTool("ended"))["structuredContent"] as { readonly begun: readonly string[] };
    expect(begun.filter((id) => id === runId)).toHaveLength(isModern ? 3 : 1);
  });
});
