import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { SpanKind } from "@opentelemetry/api";
import { describe, expect, it } from "vitest";
import { bundleScript } from "../fixtures/bundle-script.ts";
import { newFolder } from "../links/unix/support.ts";
import { atEndOfTest } from "../setup/end-of-test.ts";
import type { WrittenSpan } from "./fixtures/export-spans.ts";

const run = promisify(execFile);
const bundle = (name: string): Promise<string> =>
  bundleScript(new URL(`fixtures/${name}.ts`, import.meta.url), `otel-${name}`);

/** Plays three calls of an agent through three processes. Returns the texts of the answers, and the spans of each process. */
async function play() {
  const [owner, face, agent] = await Promise.all([bundle("owner"), bundle("face"), bundle("agent")]);
  const folder = await newFolder();
  const socket = join(folder, "s.sock");
  const fileOf = (name: string): string => join(folder, `${name}.jsonl`);
  const owning = spawn(process.execPath, [owner, socket, fileOf("owner")], { stdio: ["ignore", "pipe", "inherit"] });
  atEndOfTest(() => owning.kill("SIGKILL"));
  await once(owning.stdout, "data");
  const args = [agent, fileOf("agent"), face, socket, fileOf("face")];
  const { stdout } = await run(process.execPath, args, { timeout: 60_000 });
  const spansOf = (name: string): readonly WrittenSpan[] => {
    const lines = readFileSync(fileOf(name), "utf8").trimEnd().split("\n");
    return lines.map((line) => JSON.parse(line) as WrittenSpan);
  };
  const texts = (JSON.parse(stdout) as { text: string }[][]).map(([block]) => block?.text);
  return { texts, agent: spansOf("agent"), face: spansOf("face"), owner: spansOf("owner") };
}

describe("an agent, a face and an owner, each with an SDK", () => {
  it("write one trace for each call: the span of each process is the parent of the next one's", async () => {
    const { texts, agent, face, owner } = await play();
    expect(texts).toEqual(["paid 1 for blue", "paid 2 for blue", `{"value":"paid 3 for blue"}`]);
    expect(new Set(agent.map(({ name }) => name))).toEqual(new Set(["call pay", "call pay_all", "call pay_later"]));
    expect(agent.map(({ parentId }) => parentId)).toEqual([undefined, undefined, undefined]);
    expect(new Set(agent.map(({ traceId }) => traceId)).size).toBe(3);
    expect(owner).toHaveLength(3);
    for (const root of agent) {
      const tool = root.name.replace("call ", "");
      const served = face.find(({ name }) => name === `tools/call ${tool}`);
      expect(served).toMatchObject({ kind: SpanKind.SERVER, traceId: root.traceId, parentId: root.spanId });
      const nested = face.find(({ name, parentId }) => name === "execute_tool pay" && parentId === served?.spanId);
      expect(nested !== undefined).toBe(tool === "pay_all");
      const charges = owner.filter(({ traceId }) => traceId === root.traceId);
      expect(charges).toEqual([
        expect.objectContaining({ name: "charge the card", parentId: (nested ?? served)?.spanId }),
      ]);
    }
  });
});
