import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { afterAll, describe, expect, it } from "vitest";
import * as z from "zod";
import { envelope, handshake, modernLine } from "../../fixtures/envelope.ts";
import { PipelineHarness, rightHeaders } from "../pipeline-support.ts";

/**
 * What the front makes of a message and its headers, next to what the SDK's own entry does. Both serve the modern era
 * alone here: the SDK's other leg has no sessions, and is none that we would serve.
 */
const front = new PipelineHarness({ legacy: undefined });
const sdk = createMcpHandler(
  () => {
    const server = new McpServer({ name: "hostile", version: "1" });
    server.registerTool("echo", { inputSchema: z.object({ text: z.string() }) }, ({ text }) => ({
      content: [{ type: "text", text }],
    }));
    const region = z.string().meta({ "x-mcp-header": "Region" });
    server.registerTool("routed", { inputSchema: z.object({ region }) }, () => ({ content: [] }));
    server.registerResource("state", "app://state", {}, () => ({ contents: [] }));
    return server;
  },
  { legacy: "reject" },
);

afterAll(() => Promise.all([front.close(), sdk.close()]));

type Headers = Readonly<Record<string, string | undefined>>;

interface Outcome {
  readonly status: number;
  readonly code: number | undefined;
}

/** What is answered by whoever the message is for is one: it was let through. */
const served: Outcome = { status: 0, code: undefined };

async function bySdk(headers: Headers, body: string): Promise<Outcome> {
  const sent = Object.entries({ ...rightHeaders, ...headers }).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as [string, string]],
  );
  const response = await sdk.fetch(new Request("http://127.0.0.1/mcp", { method: "POST", headers: sent, body }));
  const text = await response.text();
  if (response.status === 202) return { status: 202, code: undefined };
  // Who knows no such method was asked.
  if (response.ok || response.status === 404) return served;
  const { error } = Object(JSON.parse(text));
  return { status: response.status, code: Object(error).code };
}

async function byPipeline(headers: Headers, body: string): Promise<Outcome> {
  const { status, code, leg } = await front.send({ headers, body });
  return leg === undefined ? { status, code } : served;
}

const list = modernLine(1, "tools/list");
const call = (name: unknown, args: object = { text: "a" }): string =>
  modernLine(1, "tools/call", { name, arguments: args });
const withMeta = (meta: unknown, method = "tools/list"): string =>
  JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { _meta: meta } });
const told = (params: object, method = "notifications/progress"): string =>
  JSON.stringify({ jsonrpc: "2.0", method, params });
const version = "io.modelcontextprotocol/protocolVersion";
const capabilities = "io.modelcontextprotocol/clientCapabilities";

const m = { "mcp-method": "tools/list" };
const c = { "mcp-method": "tools/call", "mcp-name": "echo" };
const r = { "mcp-method": "tools/call", "mcp-name": "routed" };
const gone = undefined;

const cases: readonly (readonly [string, Headers, string])[] = [
  ["right", m, list],
  ["method missing", {}, list],
  ["method empty", { "mcp-method": "" }, list],
  ["method of other case", { "mcp-method": "Tools/List" }, list],
  ["method of another", { "mcp-method": "tools/call" }, list],
  ["method in base64", { "mcp-method": "=?base64?dG9vbHMvbGlzdA==?=" }, list],
  ["version missing", { ...m, "mcp-protocol-version": gone }, list],
  ["version and method missing", { "mcp-protocol-version": gone }, list],
  ["version of no revision", { ...m, "mcp-protocol-version": "latest" }, list],
  ["version of the other era", { ...m, "mcp-protocol-version": "2025-11-25" }, list],
  [
    "version unsupported in both",
    { ...m, "mcp-protocol-version": "1900-01-01" },
    withMeta({ ...envelope, [version]: "1900-01-01" }),
  ],
  ["version unsupported in the body", m, withMeta({ ...envelope, [version]: "1900-01-01" })],
  [
    "version unsupported in the body, none in the head",
    { ...m, "mcp-protocol-version": gone },
    withMeta({ ...envelope, [version]: "1900-01-01" }),
  ],
  [
    "version of the other era in the body",
    { ...m, "mcp-protocol-version": "2025-11-25" },
    withMeta({ ...envelope, [version]: "2025-11-25" }),
  ],
  [
    "version of a later revision in both",
    { ...m, "mcp-protocol-version": "2099-01-01" },
    withMeta({ ...envelope, [version]: "2099-01-01" }),
  ],
  ["version no text", m, withMeta({ ...envelope, [version]: 1 })],
  ["version null", m, withMeta({ ...envelope, [version]: null })],
  ["no capabilities", m, withMeta({ [version]: "2026-07-28" })],
  ["no capabilities, and another method in the head", { "mcp-method": "x" }, withMeta({ [version]: "2026-07-28" })],
  ["capabilities no object", m, withMeta({ ...envelope, [capabilities]: [] })],
  ["client of no name", m, withMeta({ ...envelope, "io.modelcontextprotocol/clientInfo": {} })],
  ["log level unknown", m, withMeta({ ...envelope, "io.modelcontextprotocol/logLevel": "loud" })],
  ["no envelope", m, withMeta({})],
  ["no _meta", m, '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}'],
  ["no params", m, '{"jsonrpc":"2.0","id":1,"method":"tools/list"}'],
  ["_meta a list", m, withMeta([])],
  ["_meta null", m, withMeta(null)],
  ["no envelope anywhere", { "mcp-protocol-version": gone }, '{"jsonrpc":"2.0","id":1,"method":"tools/list"}'],
  [
    "a handshake",
    { "mcp-protocol-version": gone },
    JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params: handshake }),
  ],
  [
    "a handshake under a modern head",
    {},
    JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params: handshake }),
  ],
  ["a handshake with an envelope", { "mcp-method": "initialize" }, modernLine(1, "initialize", handshake)],
  ["a name", c, call("echo")],
  ["name missing", { "mcp-method": "tools/call" }, call("echo")],
  ["name of another", c, call("wipe")],
  ["name of other case", { ...c, "mcp-name": "Echo" }, call("echo")],
  ["name with space around it", { ...c, "mcp-name": " echo " }, call("echo")],
  ["name empty", { ...c, "mcp-name": "" }, call("echo")],
  ["name in base64", { ...c, "mcp-name": "=?base64?ZWNobw==?=" }, call("echo")],
  ["name of another in base64", { ...c, "mcp-name": "=?base64?ZWNobw==?=" }, call("wipe")],
  ["name in no base64", { ...c, "mcp-name": "=?base64?@@@?=" }, call("echo")],
  ["name in base64 that is cut", { ...c, "mcp-name": "=?base64?ZWNobw?=" }, call("echo")],
  ["name in base64 that is no UTF-8", { ...c, "mcp-name": "=?base64?/w==?=" }, call("echo")],
  ["name in base64 of other case", { ...c, "mcp-name": "=?BASE64?ZWNobw==?=" }, call("echo")],
  ["name in base64 that has no end", { ...c, "mcp-name": "=?base64?ZWNobw==" }, call("=?base64?ZWNobw==")],
  ["name no text in the body", c, call(1)],
  ["name no text, none in the head", { "mcp-method": "tools/call" }, call(1)],
  ["name missing in the body", c, modernLine(1, "tools/call", {})],
  ["name of a method that has none", { ...m, "mcp-name": "echo" }, list],
  [
    "uri",
    { "mcp-method": "resources/read", "mcp-name": "app://state" },
    modernLine(1, "resources/read", { uri: "app://state" }),
  ],
  [
    "uri of another",
    { "mcp-method": "resources/read", "mcp-name": "app://x" },
    modernLine(1, "resources/read", { uri: "app://state" }),
  ],
  ["uri missing", { "mcp-method": "resources/read" }, modernLine(1, "resources/read", { uri: "app://state" })],
  ["prompt missing", { "mcp-method": "prompts/get" }, modernLine(1, "prompts/get", { name: "x" })],
  ["an unknown method", { "mcp-method": "nope" }, modernLine(1, "nope")],
  ["a method of a prototype", { "mcp-method": "constructor" }, modernLine(1, "constructor")],
  ["an argument", { ...r, "mcp-param-region": "eu" }, call("routed", { region: "eu" })],
  ["an argument missing in the head", r, call("routed", { region: "eu" })],
  ["an argument of another value", { ...r, "mcp-param-region": "us" }, call("routed", { region: "eu" })],
  ["an argument in base64", { ...r, "mcp-param-region": "=?base64?ZXU=?=" }, call("routed", { region: "eu" })],
  ["an argument in no base64", { ...r, "mcp-param-region": "=?base64?@?=" }, call("routed", { region: "eu" })],
  ["an argument missing in the body", { ...r, "mcp-param-region": "us" }, call("routed", {})],
  ["an argument that is null", { ...r, "mcp-param-region": "us" }, call("routed", { region: null })],
  ["an argument of another kind", { ...r, "mcp-param-region": "us" }, call("routed", { region: [] })],
  ["an argument that is a number", { ...r, "mcp-param-region": "1" }, call("routed", { region: 1 })],
  ["an argument of a tool that has none", { ...c, "mcp-param-region": "us" }, call("echo")],
  ["a notice", { "mcp-method": "notifications/progress" }, told({})],
  ["a notice of another method", { "mcp-method": "x" }, told({})],
  ["a notice without a head", {}, told({})],
  ["a notice of a version", { ...m, "mcp-protocol-version": "2025-11-25" }, told({ _meta: envelope })],
  [
    "a notice of no version",
    { "mcp-protocol-version": "1900-01-01" },
    told({ _meta: { ...envelope, [version]: "1900-01-01" } }),
  ],
  ["a notice of a version that is no text", {}, told({ _meta: { ...envelope, [version]: 1 } })],
  ["a legacy notice", { "mcp-protocol-version": gone }, told({})],
  ["an answer", {}, '{"jsonrpc":"2.0","id":1,"result":{}}'],
  ["an answer of the legacy era", { "mcp-protocol-version": gone }, '{"jsonrpc":"2.0","id":1,"result":{}}'],
  ["a batch", {}, `[${list}]`],
  ["an empty batch", {}, "[]"],
  ["an empty body", {}, ""],
  ["no JSON", {}, "{"],
  ["a number", {}, "42"],
  ["an id that is null", m, '{"jsonrpc":"2.0","id":null,"method":"tools/list"}'],
  ["another media type", { ...m, "content-type": "text/plain" }, list],
];

/** Where we differ, and why. */
const differs: Readonly<Record<string, readonly [ours: string, theirs: string, why: string]>> = {
  "_meta a list": ["400 -32602", "400 -32600", "what is wrong with params is told as wrong params"],
  "_meta null": ["400 -32602", "400 -32600", "as above"],
  "an argument missing in the body": [
    "400 -32020",
    "served",
    "an intermediary that goes by the header would take it for the argument",
  ],
  "an argument that is null": ["400 -32020", "served", "as above"],
  "an argument of another kind": ["400 -32020", "served", "as above"],
  "another media type": ["415 -32600", "415 -32000", "one code for all that is wrong with HTTP; the status says what"],
};

const show = ({ status, code }: Outcome): string => (status === 0 ? "served" : `${status} ${code ?? ""}`.trim());

describe("headers and body", () => {
  it.each(cases)("are judged as the SDK judges them: %s", async (name, headers, body) => {
    const [ours, theirs] = [show(await byPipeline(headers, body)), show(await bySdk(headers, body))];
    const known = differs[name];
    expect([ours, theirs]).toEqual(known === undefined ? [theirs, theirs] : known.slice(0, 2));
  });
});
