import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bundleScript } from "../fixtures/bundle-script.ts";
import { openingCases } from "../fixtures/bad-inputs-more.ts";
import { ServerProcess } from "../fixtures/server-process.ts";
import { readCorpus, type BadInput } from "./bad-input.ts";
import { judge } from "./judge.ts";
import { runCase, watch } from "./run-case.ts";
import { prepare } from "./send-input.ts";

const cases = readCorpus();

/** Whether a case needs a process for itself: it is about its end, its memory or its pipes, or leaves something open. */
function isAlone({ precondition, input, expect: due }: BadInput): boolean {
  const reasons = [
    precondition === "none",
    JSON.stringify(input).includes("subscriptions/listen"),
    due.exit !== undefined || due.rpcAnyOf?.includes("close"),
    due.maxRssMB !== undefined,
    input.closeStdoutFirst,
    input.doNotReadStdout,
    input.thenEof,
    input.rawNoNewline !== undefined || input.gen?.noNewline,
  ];
  return reasons.includes(true);
}

const shared = cases.filter((badInput) => !isAlone(badInput));
const servers = new Map<string, ServerProcess>();
let script = "";

/** The process that takes all cases of a precondition. */
async function serverFor(precondition: BadInput["precondition"]): Promise<ServerProcess> {
  const running = servers.get(precondition);
  if (running !== undefined) return running;
  const server = new ServerProcess(script);
  servers.set(precondition, server);
  await prepare(server, precondition);
  return server;
}

beforeAll(async () => {
  script = await bundleScript(new URL("../fixtures/hostile.ts", import.meta.url), "bad-inputs");
});

afterAll(() => Promise.all(Array.from(servers.values(), (server) => server.kill())));

async function problemsAlone(badInput: BadInput): Promise<readonly string[]> {
  return judge(badInput, await runCase(script, badInput));
}

describe("the corpus of bad inputs over stdio", () => {
  it("is run whole", () => {
    expect(cases).toHaveLength(106);
    expect(shared.length).toBeGreaterThan(60);
  });

  it.each(shared)("$id", { timeout: 60_000 }, async (badInput) => {
    expect(judge(badInput, await watch(await serverFor(badInput.precondition), badInput))).toEqual([]);
  });

  it.concurrent.each(cases.filter(isAlone))("in a process of its own: $id", { timeout: 60_000 }, async (badInput) => {
    expect(await problemsAlone(badInput)).toEqual([]);
  });
});

describe("more bad inputs over stdio", () => {
  it.concurrent.each(openingCases)("opening: $id", { timeout: 60_000 }, async (badInput) => {
    expect(await problemsAlone(badInput)).toEqual([]);
  });
});
