import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import {
  Client as ModernSdkClient,
  StreamableHTTPClientTransport as ModernHttpTransport,
} from "@modelcontextprotocol/client";
import { StdioClientTransport as ModernStdioTransport } from "@modelcontextprotocol/client/stdio";
import { Client as LegacySdkClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as LegacyStdioTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as LegacyHttpTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { CreateMessageRequestSchema, ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { beforeEach, describe, expect, it } from "vitest";
import { endWithTest } from "../scenarios/support/serve.ts";
import { compileExample } from "./compile-examples.ts";

const run = promisify(execFile);
const info = { name: "writer", version: "1" };
const capabilities = { sampling: {}, elicitation: {} };
const call = { name: "write_release_notes", arguments: { version: "1.4.0" } };
const written = { model: "echo", role: "assistant", content: { type: "text", text: "- it is faster" } } as const;

const script = [compileExample("agent/server.ts")];
let directory = "";
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "release-notes-"));
  endWithTest(() => rm(directory, { recursive: true, force: true }));
});

type Target = { readonly url: string } | { readonly args: readonly string[] };

/** What a host does: it lends its model, asks its person, and shows progress. */
interface Host {
  /** What the person says. */
  readonly says: "accept" | "decline" | "cancel";
  /** What was asked and told, in order. */
  readonly heard: string[];
}

interface Answer {
  readonly structuredContent?: unknown;
  readonly isError?: unknown;
  readonly _meta?: unknown;
}

function personOf({ says, heard }: Host, message: string) {
  heard.push(`asked: ${message.split("\n")[0] ?? ""}`);
  return says === "accept" ? { action: says, content: { title: "Faster" } } : { action: says };
}

async function callV1(target: Target, host: Host, able: Partial<typeof capabilities>): Promise<Answer> {
  const client = new LegacySdkClient(info, { capabilities: able });
  if (able.sampling !== undefined) client.setRequestHandler(CreateMessageRequestSchema, () => ({ ...written }));
  if (able.elicitation !== undefined) {
    client.setRequestHandler(ElicitRequestSchema, ({ params }) => personOf(host, params.message));
  }
  endWithTest(() => client.close());
  await client.connect(
    "url" in target
      ? new LegacyHttpTransport(new URL(target.url))
      : new LegacyStdioTransport({ command: process.execPath, args: [...target.args], stderr: "ignore" }),
  );
  return client.callTool(call, undefined, { onprogress: ({ message = "" }) => host.heard.push(message) });
}

function callV2(mode: "legacy" | { readonly pin: string }): typeof callV1 {
  return async (target, host, able) => {
    const client = new ModernSdkClient(info, { capabilities: able, versionNegotiation: { mode } });
    if (able.sampling !== undefined) client.setRequestHandler("sampling/createMessage", () => written);
    if (able.elicitation !== undefined) {
      client.setRequestHandler("elicitation/create", ({ params }) => personOf(host, params.message));
    }
    endWithTest(() => client.close());
    await client.connect(
      "url" in target
        ? new ModernHttpTransport(new URL(target.url))
        : new ModernStdioTransport({ command: process.execPath, args: [...target.args], stderr: "ignore" }),
    );
    return client.callTool(call, { onprogress: ({ message = "" }) => host.heard.push(message) });
  };
}

async function serveHttp(): Promise<string> {
  const child = spawn(process.execPath, [...script, directory, "--http"], { stdio: ["ignore", "pipe", "inherit"] });
  endWithTest(async () => {
    child.kill("SIGTERM");
    if (child.exitCode === null) await once(child, "exit");
  });
  const [url] = await once(createInterface({ input: child.stdout }), "line");
  return String(url);
}

const hosts = [
  { name: "SDK 1.x", era: "legacy", callBy: callV1 },
  { name: "SDK 2.x, legacy", era: "legacy", callBy: callV2("legacy") },
  { name: "SDK 2.x, modern", era: "modern", callBy: callV2({ pin: "2026-07-28" }) },
] as const;

const servings = [
  { how: "stdio", target: async (): Promise<Target> => ({ args: [...script, directory] }) },
  { how: "HTTP", target: async (): Promise<Target> => ({ url: await serveHttp() }) },
];

describe.each(servings)("the agent over $how", { timeout: 60_000 }, ({ target }) => {
  it.each(hosts)("tells its steps, has $name's model write, and writes when the person accepts", async ({ callBy }) => {
    const host: Host = { says: "accept", heard: [] };
    const { structuredContent, _meta } = await callBy(await target(), host, capabilities);
    expect(structuredContent).toEqual({ written: true, path: join(directory, "1.4.0.md") });
    expect(_meta).toMatchObject({ "surface-mcp/runId": expect.stringMatching(/^[\da-f-]{36}$/) });
    expect(await readFile(join(directory, "1.4.0.md"), "utf8")).toBe("# Faster\n\n- it is faster\n");
    expect(host.heard.filter((said) => said.startsWith("asked: "))).toEqual(["asked: Write these notes of 1.4.0?"]);
    const steps = host.heard.join("\n");
    expect(steps).toMatch(/tool_call_started/);
    expect(steps).toMatch(/3 changes/);
    expect(steps).toMatch(/llm_call_completed/);
  });

  it.each(hosts)("writes nothing when the person of $name declines or turns away", async ({ callBy }) => {
    const where = await target();
    for (const says of ["decline", "cancel"] as const) {
      const { structuredContent } = await callBy(where, { says, heard: [] }, capabilities);
      expect(structuredContent).toEqual({ written: false });
    }
    expect(await readdir(directory)).toEqual([]);
  });

  it.each(hosts)("writes nothing when $name can ask nobody", async ({ callBy, era }) => {
    const heard: string[] = [];
    const calling = callBy(await target(), { says: "accept", heard }, { sampling: {} });
    // A tool that has failed, or, from 2026-07-28 on, an error of the protocol's.
    const came = await calling.then(
      ({ isError }) => ({ isError }),
      (error: unknown) => ({ code: Reflect.get(Object(error), "code") as unknown }),
    );
    expect(came).toEqual(era === "modern" ? { code: -32021 } : { isError: true });
    expect(heard.filter((said) => said.startsWith("asked: "))).toEqual([]);
    expect(await readdir(directory)).toEqual([]);
  });
});

it("the agent's client has notes written when it is run as the README says", { timeout: 60_000 }, async () => {
  const client = fileURLToPath(new URL("../../examples/agent/client.ts", import.meta.url));
  const { stdout } = await run(process.execPath, ["--import", import.meta.resolve("tsx"), client]);
  expect(stdout).toContain('decline: {"written":false}\n');
  expect(stdout).toContain("# Faster, and darker\n");
});
