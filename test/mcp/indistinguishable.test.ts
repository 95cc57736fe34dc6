import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Era } from "../../src/mcp/protocol.ts";
import { bundleScript } from "../fixtures/bundle-script.ts";
import { handshake, legacyLine, modernLine } from "../fixtures/envelope.ts";
import { ServerProcess, type Frame } from "../fixtures/server-process.ts";

/** Of the same length as each of the names that are hidden. */
const never = "nonsenses";

const hidden = ["configure", "passwords", "inventory"];

/** Ways to write a name, each with a place for the part of it that is hidden. */
const spellings = [
  ...["run.*", "run_*", "run/*", "run-*", "run:*", "run::*", "*", "run", ".*", "run.*.", "run..*", " run.*", "run.* "],
  ...["RUN.*", "Run.*", "run.*()", "ci.run.*", "ci/run.*", "ci_run_*", "tool:run.*", "procedure:run.*", "run%2E*"],
];

const uris = [
  ...["surface://ci/run.*", "surface://ci/run_*", "surface://ci/run/*", "surface://ci/*", "surface://ci/run%2E*"],
  ...["surface://ci//run.*", "surface://ci/./run.*", "surface://ci/run.nodes/../run.*", "surface://CI/run.*"],
  ...["surface://ci/run.*/", "surface://ci/run.*/lint", "surface://ci/run.*/{key}", "surface://ci/run.*{/key}"],
  ...["surface://ci/run.*?x=1", "surface://ci/run.*#x", "run.*", "ci:run.*", "ci://run.*", "surface://run.*"],
  ...["surface://ci/_parts/run.*/1", "surface://ci/run.*/_parts/1"],
];

type Ask = readonly [method: string, params: object];

/** Everything that a client can ask of a name. */
function asksOf(name: string): readonly Ask[] {
  return [
    ["tools/call", { name }],
    ["tools/call", { name, arguments: { token: "x" } }],
    ["tools/call", { name, arguments: { token: 5 } }],
    ["prompts/get", { name }],
    ["prompts/get", { name, arguments: { token: "x" } }],
    ["completion/complete", { ref: { type: "ref/prompt", name }, argument: { name: "token", value: "" } }],
    ["completion/complete", { ref: { type: "ref/prompt", name: "review" }, argument: { name, value: "" } }],
    ["completion/complete", { ref: { type: "ref/prompt", name: "review" }, argument: { name: "node", value: name } }],
    ["tools/list", { cursor: name }],
  ];
}

/** Everything that a client can ask of a URI. */
function asksOfUri(uri: string, era: Era): readonly Ask[] {
  const subscribing: readonly Ask[] =
    era === "legacy"
      ? [
          ["resources/subscribe", { uri }],
          ["resources/unsubscribe", { uri }],
        ]
      : [["subscriptions/listen", { notifications: { resourceSubscriptions: [uri] } }]];
  return [
    ["resources/read", { uri }],
    ["completion/complete", { ref: { type: "ref/resource", uri }, argument: { name: "key", value: "" } }],
    ["tools/call", { name: "read_resource", arguments: { uri } }],
    ["tools/call", { name: "wait_for_change", arguments: { uris: [uri], timeout_ms: 1 } }],
    ...subscribing,
  ];
}

/** Everything that can be asked of one name, and every spelling of it. */
function allAsks(part: string, era: Era): readonly Ask[] {
  const fill = (spelling: string): string => spelling.replaceAll("*", part);
  return [
    ...[...spellings, ...uris].flatMap((spelling) => asksOf(fill(spelling))),
    ...[...uris, ...spellings].flatMap((spelling) => asksOfUri(fill(spelling), era)),
  ];
}

/** A server in a process of its own, that was met by a client of an era. */
async function meet(script: string, era: Era): Promise<ServerProcess> {
  const server = new ServerProcess(script);
  if (era === "legacy") {
    await server.send(legacyLine("open", "initialize", handshake));
    await server.until(() => server.frames.length === 1);
    await server.send('{"jsonrpc":"2.0","method":"notifications/initialized"}');
  }
  return server;
}

/** How many are asked at once: fewer than a server keeps waiting. */
const atOnce = 50;

/** The id of the request that a frame belongs to, by which what was asked at once is put in order. */
function idOf({ message: { id, params } }: Frame): number {
  const meta: unknown = Reflect.get(Object(params), "_meta");
  return Number(id ?? Reflect.get(Object(meta), "io.modelcontextprotocol/subscriptionId"));
}

/** All that a server writes when it is asked everything of one name, in its own bytes but for the name. */
async function transcribe(server: ServerProcess, part: string, era: Era): Promise<readonly string[]> {
  const from = server.frames.length;
  const asks = allAsks(part, era);
  for (let start = 0; start < asks.length; start += atOnce) {
    const lines = asks.slice(start, start + atOnce).map(([method, params], offset) => {
      const write = era === "modern" ? modernLine : legacyLine;
      return write(start + offset, method, params);
    });
    const end = server.frames.length + lines.length;
    await server.send(lines.join("\n"));
    expect(await server.until(() => server.frames.length >= end)).toBe(true);
    const cancelled = lines.map((_, offset) => ({
      jsonrpc: "2.0",
      method: "notifications/cancelled",
      params: { requestId: start + offset },
    }));
    await server.send(cancelled.map((each) => JSON.stringify(each)).join("\n"));
  }
  const frames = server.frames.slice(from).toSorted((left, right) => idOf(left) - idOf(right));
  return frames.map(({ line }, index) => `${asks[index]?.[0]} ${line.replaceAll(part, "*")}`);
}

let script = "";
beforeAll(async () => {
  script = await bundleScript(new URL("fixtures/curated.ts", import.meta.url), "curated");
});

describe.each<Era>(["legacy", "modern"])("an unexposed member, in the %s era", { timeout: 60_000 }, (era) => {
  let server: ServerProcess;
  let control: readonly string[] = [];
  beforeAll(async () => {
    server = await meet(script, era);
    control = await transcribe(server, never, era);
  }, 60_000);
  afterAll(() => server.kill());

  it.each(hidden)("looks unknown when run.%s is requested in any way", async (name) => {
    expect(name).toHaveLength(never.length);
    expect(await transcribe(server, name, era)).toEqual(control);
  });

  it("is not in anything that lists, nor in how the server introduces itself", async () => {
    const lists = ["tools/list", "resources/list", "resources/templates/list", "prompts/list"];
    const methods = era === "modern" ? [...lists, "server/discover"] : lists;
    for (const method of methods) {
      const before = server.frames.length;
      await server.send(era === "modern" ? modernLine(method, method) : legacyLine(method, method));
      await server.until(() => server.frames.length > before);
      expect(server.frames.at(-1)?.message).toHaveProperty("result");
    }
    const all = server.frames.map(({ line }) => line).join("\n");
    for (const secret of ["configured", "hunter2", "secret"]) expect(all).not.toContain(secret);
    const listed = server.frames.slice(-methods.length).map(({ line }) => line);
    for (const name of hidden) expect(listed.join("\n")).not.toContain(name);
  });

  it("is requested in ways that work for an exposed member", async () => {
    const works: readonly Ask[] = [
      ["tools/call", { name: "run_start", arguments: { branch: "main" } }],
      ["resources/read", { uri: "surface://ci/run.nodes/lint" }],
      ["prompts/get", { name: "review", arguments: { node: "lint", tone: "kind" } }],
      [
        "completion/complete",
        { ref: { type: "ref/resource", uri: "surface://ci/run.nodes/{key}" }, argument: { name: "key", value: "L" } },
      ],
    ];
    for (const [index, [method, params]] of works.entries()) {
      const before = server.frames.length;
      const id = `works ${index}`;
      await server.send(era === "modern" ? modernLine(id, method, params) : legacyLine(id, method, params));
      await server.until(() => server.frames.length > before);
      expect(server.frames.at(-1)?.message).toHaveProperty("result");
    }
    expect(server.frames.at(-1)?.line).toContain('"values":["lint"]');
  });
});
