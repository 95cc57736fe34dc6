import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, describe, expect, it } from "vitest";
import { bundleScript } from "../fixtures/bundle-script.ts";
import type { BadInput } from "./bad-input.ts";
import type { Kind, Mode } from "./bridge/control.ts";
import { openStage, type Transport } from "./bridge/stage.ts";

const corpus = new URL("../fixtures/bad-inputs.json", import.meta.url);
// The corpus is written in this shape; a case without a scenario fails its own test.
const cases = (JSON.parse(readFileSync(corpus, "utf8")) as BadInput[]).filter(
  ({ transport }) => transport === "bridge",
);

let script = "";
beforeAll(async () => {
  script = await bundleScript(new URL("bridge/backend.ts", import.meta.url), "bad-bridge");
});

const open = (transport: Transport, kind: Kind, mode: Mode = "good") => openStage(script, transport, { kind, mode });
type Opened = Awaited<ReturnType<typeof open>>;

const seven = { isError: false, structured: { count: 7 } };
const unknown = { isError: true, code: "OUTCOME_UNKNOWN" };

async function expectAllWell({ client }: Opened): Promise<void> {
  expect(await client.tools.look()).toMatchObject(seven);
  expect(await client.tools.bump()).toMatchObject(seven);
  expect(await client.read("state")).toEqual({ count: 7 });
}

/** A call that mutates is under way when a read makes the backend break its frames: each has its answer. */
async function breakOnce(opened: Opened, mode: Mode): Promise<void> {
  const { client, control, stage } = opened;
  await expectAllWell(opened);
  const before = { connected: control.count("connected"), bump: control.count("bump"), look: control.count("look") };
  control.setMode(mode);
  const bumping = client.tools.bump();
  await stage.reached("bump", before.bump + 1);
  expect(await client.tools.look()).toMatchObject(seven);
  expect(await bumping).toMatchObject(unknown);
  expect(control.count("connected")).toBe(before.connected + 1);
  expect(control.count("look")).toBe(before.look + 2);
  expect(control.count("bump")).toBe(before.bump + 1);
  await expectAllWell(opened);
}

async function breakFrames(transport: Transport): Promise<void> {
  const opened = await open(transport, "hand");
  await breakOnce(opened, "garbage");
  const { client, control } = opened;
  // A read that meets it each time: it gives up, and the next good backend is used.
  control.setMode("garbage!");
  await expect(client.read("state")).rejects.toMatchObject({ code: -32_603, data: { code: "UNAVAILABLE" } });
  control.setMode("good");
  await expectAllWell(opened);
}

/** By how many MiB this process, which is the face, grows at most while something goes on. */
async function growth(during: () => Promise<void>): Promise<number> {
  const before = process.memoryUsage.rss();
  let peak = before;
  const timer = setInterval(() => (peak = Math.max(peak, process.memoryUsage.rss())), 1);
  await during();
  clearInterval(timer);
  return (Math.max(peak, process.memoryUsage.rss()) - before) / 1024 ** 2;
}

async function sendHugeFrames(transport: Transport): Promise<void> {
  const opened = await open(transport, "hand");
  await expectAllWell(opened);
  expect(await growth(() => breakOnce(opened, "huge length"))).toBeLessThan(64);
  expect(await growth(() => breakOnce(opened, "endless"))).toBeLessThan(64);
}

async function violateSchema(transport: Transport): Promise<void> {
  const opened = await open(transport, "hand", "violation!");
  const { client, control, faults } = opened;
  const reading = client.read("state");
  await expect(reading).rejects.toMatchObject({
    code: -32_603,
    message: expect.not.stringContaining("evil"),
    data: expect.not.objectContaining({ retryable: true }),
  });
  const answer = await client.tools.look();
  expect(answer).toMatchObject({ isError: true, code: "INVALID_OUTPUT" });
  expect(JSON.stringify(answer)).not.toContain("evil");
  expect(faults.length).toBeGreaterThanOrEqual(2);
  control.setMode("good");
  await expectAllWell(opened);
  expect(control.count("connected")).toBe(1);
}

async function sendSecrets(transport: Transport): Promise<void> {
  const { client } = await open(transport, "hand", "secret!");
  const { resources } = await client.request("resources/list");
  // A list of resources has them under this name.
  const [{ uri }] = resources as unknown as [{ uri: string }];
  const answers = [
    await client.request("resources/read", { uri }),
    await client.request("tools/call", { name: "look", arguments: {} }),
    await client.request("tools/call", { name: "bump", arguments: {} }),
  ];
  expect(answers[1]).toMatchObject({ structuredContent: { count: 7 } });
  expect(JSON.stringify(answers)).not.toMatch(/hunter2|password|nested/);
  expect(await client.read("state")).toEqual({ count: 7 });
}

async function killDuringRead(transport: Transport): Promise<void> {
  const opened = await open(transport, "served", "hang");
  const { client, control, stage } = opened;
  const looking = client.tools.look();
  await stage.reached("look");
  stage.kill();
  await stage.start();
  expect(await looking).toMatchObject(seven);
  expect(control.count("look")).toBe(2);
}

async function killDuringMutation(transport: Transport): Promise<void> {
  const opened = await open(transport, "served", "hang");
  const { client, control, stage } = opened;
  const bumping = client.tools.bump();
  await stage.reached("bump");
  stage.kill();
  await stage.start();
  expect(await bumping).toMatchObject(unknown);
  // Long enough for a second sending that must not come.
  expect(await client.tools.look()).toMatchObject(seven);
  await sleep(200);
  expect(control.count("bump")).toBe(1);
}

/**
 * What an agent is shown is the face's own definition: no words of a backend travel, so that there is nothing to announce
 * and nothing to withdraw. What does change is refused, and the rest goes on.
 */
async function changeDescriptions(transport: Transport): Promise<void> {
  const opened = await open(transport, "served");
  const { client, control, stage } = opened;
  const shown = async (): Promise<string> =>
    JSON.stringify([
      await client.request("tools/list"),
      await client.request("resources/list"),
      await client.request("resources/templates/list"),
    ]);
  await expectAllWell(opened);
  const before = await shown();
  expect(before).toContain("as the face says");
  const restart = async (kind: Kind): Promise<void> => {
    control.set(kind, "good");
    stage.kill();
    await stage.start();
    // A read, which waits for the new backend.
    expect(await client.read("state")).toEqual({ count: 7 });
  };
  await restart("reworded");
  expect(await shown()).toBe(before);
  await expectAllWell(opened);
  await restart("changed");
  const answer = await client.tools.look();
  expect(answer).toMatchObject({ isError: true, code: "CONTRACT_MISMATCH" });
  expect(JSON.stringify(answer)).not.toMatch(/EVIL|seven/);
  expect(await client.tools.bump()).toMatchObject(seven);
  expect(control.lines().filter((line) => line === "look")).toHaveLength(2);
  expect(await shown()).toBe(before);
}

/** What is done for each case of the corpus, and what has to come of it. */
const scenarios: Readonly<Record<string, (transport: Transport) => Promise<void>>> = {
  "bridge-backend-garbage-frame": breakFrames,
  "bridge-backend-huge-frame": sendHugeFrames,
  "bridge-backend-schema-violation": violateSchema,
  "bridge-backend-secret-field": sendSecrets,
  "bridge-backend-kill9-midcall-read": killDuringRead,
  "bridge-backend-kill9-midcall-mutate": killDuringMutation,
  "bridge-backend-description-change": changeDescriptions,
};

describe("the corpus of bad inputs from a backend", () => {
  it("is run whole", () => {
    expect(cases.map(({ id }) => id).toSorted()).toEqual(Object.keys(scenarios).toSorted());
    expect(cases).toHaveLength(7);
  });
});

describe.each<Transport>(["unix", "web", "stdio"])("a server whose backend is hostile, over %s", (transport) => {
  it.each(cases)("$id", { timeout: 60_000 }, async ({ id }) => {
    const scenario = scenarios[id];
    expect(scenario, "there is a scenario for it").toBeDefined();
    await scenario?.(transport);
  });
});
