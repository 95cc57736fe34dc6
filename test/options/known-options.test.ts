import { describe, expect, it } from "vitest";
import { z } from "zod";
import * as agentic from "../../src/from/agentic/index.ts";
import * as agents from "../../src/from/agent/index.ts";
import * as redis from "../../src/redis/index.ts";
import * as openapi from "../../src/from/openapi/index.ts";
import * as invokers from "../../src/from/invoker/index.ts";
import * as orpc from "../../src/from/orpc/index.ts";
import * as trpc from "../../src/from/trpc/index.ts";
import * as http from "../../src/http/index.ts";
import * as audit from "../../src/audit/index.ts";
import * as main from "../../src/index.ts";
import * as v1 from "../../src/sdk-v1/index.ts";
import * as testing from "../../src/testing/index.ts";

const surface = main.defineSurface("probe", {
  count: main.cell({ schema: z.number() }),
  run: main.mcpTool(main.procedure({})),
  log: main.stream({ output: z.string() }),
  jobs: main.collection({ key: z.string(), schema: z.string() }),
});
const handlers = {
  count: main.cellSource(1),
  run: () => undefined,
  log: async function* () {},
  jobs: main.cellSource(new Map<string, string>()),
};
const live = main.implementSurface(surface, handlers);
const app = main.mcp(surface).implement(handlers);
const { client } = main.surfaceClientRef(live);
const service = { states: () => ({}), actions: () => ({}), execute: () => ({}) };
const router = { _def: { record: {}, procedures: {} } };
const chain = { list: () => [], invoke: () => undefined };
const server = { setRequestHandler() {}, setNotificationHandler() {}, registerCapabilities() {} };
const resource = "https://ci.example/mcp";
const verify = async () => undefined;
const member = main.cell({ schema: z.number() });
const link = main.inProcess(live);
const projection = main.projectSurface(
  surface,
  main.defineSurface("sum", { total: main.cell({ schema: z.number() }) }),
  () => ({
    total: main.cellSource(1),
  }),
);

/** Every public function, given an option that does not exist. Casts are what a program in plain JavaScript does. */
type Feed = (unknown: never) => unknown;

const fed: Readonly<Record<string, Feed>> = {
  body: (no: object) => main.body({ mimeType: "text/plain", text: "", ...no }),
  cell: (no: object) => main.cell({ schema: z.number(), ...no }),
  childProcess: (no) => main.childProcess("node", [], no),
  collection: (no: object) => main.collection({ key: z.string(), schema: z.string(), ...no }),
  "derive.cell": (no) => main.derive.cell(client.count, (value) => value, no),
  "derive.collection": (no) => main.derive.collection(client.jobs, (value) => value, no),
  "derive.event": (no) => main.derive.event(client.count, (value) => value, no),
  "derive.procedure": (no) => main.derive.procedure(client.run, no),
  "derive.stream": (no) => main.derive.stream(client.log, (frame) => frame, no),
  event: (no: object) => main.event({ output: z.number(), ...no }),
  implementProjection: (no) => main.implementProjection(projection, main.surfaceClientRef(live), no),
  implementSurface: (no) => main.implementSurface(surface, handlers, no),
  listenUnixSocket: (no) => main.listenUnixSocket(live, "/tmp/never/made.sock", no),
  listenWebSocket: (no: object) => main.listenWebSocket(live, { port: 0, ...no }),
  mcp: (no) => main.mcp(surface, no),
  "mcp, asking": (no) => main.mcp(surface, { asking: no }),
  "mcp, asking.timeoutMs": (no) => main.mcp(surface, { asking: { timeoutMs: no } }),
  "mcp().confirm": (no) => app.confirm("mutating", no),
  "mcp().prompts": (no: object) => app.prompts({ p: { handler: () => "", ...no } }).open(),
  "mcp().replay": (no) => app.replay(no),
  "mcp().resources": (no: object) => app.resources({ r: { uri: "a://b", read: () => "", ...no } }).open(),
  "mcp().tools": (no: object) => app.tools({ t: { handler: () => 1, ...no } }).open(),
  "mcp().views": (no) => app.views({ narrow: {} }, no),
  mcpResource: (no) => main.mcpResource(member, no),
  mcpTool: (no) => main.mcpTool(main.procedure({}) as never, no),
  "operationRegistry().register": (no) => main.operationRegistry().register({ name: "a" }, () => 1, no),
  polled: (no) => main.polled(() => 1, no),
  procedure: (no: object) => main.procedure({ ...no }),
  serveOverStdio: (no) => main.serveOverStdio(live, no),
  serveSurfaceAsMcp: (no: object) => main.serveSurfaceAsMcp({ surface, link, ...no }),
  siblingLinks: (no) => main.siblingLinks({ a: link }, no),
  stdio: (no) => main.stdio(no),
  stream: (no: object) => main.stream({ output: z.number(), ...no }),
  unixSocket: (no) => main.unixSocket("/tmp/a.sock", no),
  viewRulesFile: (no) => main.viewRulesFile("/tmp/never.json", no),
  webSocket: (no) => main.webSocket("ws://127.0.0.1:1/", no),
  bearer: (no: object) => http.bearer({ resource, verify, ...no }),
  http: (no) => http.http(no),
  "http, inspector": (no) => http.http({ inspector: no }),
  httpHandler: (no) => http.httpHandler(app, no),
  inspectorHandler: (no: object) => http.inspectorHandler(app, { url: "http://127.0.0.1/", ...no }),
  memoryLimiter: (no) => http.memoryLimiter(no),
  oauthResource: (no: object) =>
    http.oauthResource({ resource, issuer: "https://a.example", jwks: "https://a.example/jwks", ...no }),
  tokenRegistry: (no: object) => http.tokenRegistry({ resource, ...no }),
  "tokenRegistry().mint": (no: object) => http.tokenRegistry({ resource }).mint({ id: "a", scopes: [], ...no }),
  redactSecrets: (no) => main.redactSecrets(no),
  redis: (no) => redis.redis({ status: "wait", call() {}, duplicate() {}, on() {} } as never, no),
  auditLog: (no: object) => audit.auditLog({ path: "/tmp/never/audit.jsonl", ...no }),
  createTestClient: (no) => testing.createTestClient(app, no),
  attach: (no) => v1.attach(app, server as never, no),
  agent: (no: object) => agents.agent({ name: "a", run: async () => "", ...no } as never),
  mcpAgent: (no) => agents.mcpAgent(agents.agents(), no),
  fromOrpc: (no: object) => orpc.fromOrpc({}, {}, { client: () => ({}), ...no }),
  mcpOrpc: (no: object) => orpc.mcpOrpc({}, {}, { client: () => ({}), ...no }),
  fromTrpc: (no: object) => trpc.fromTrpc(router, {}, { context: () => ({}), ...no }),
  mcpTrpc: (no: object) => trpc.mcpTrpc(router, {}, { context: () => ({}), ...no }),
  agenticService: (no) => agentic.agenticService(service as never, no),
  mcpAgentic: (no) => agentic.mcpAgentic(service as never, no),
  fromOpenApi: (no: object) => openapi.fromOpenApi({ openapi: "3.1.0" }, {}, { baseUrl: "https://a.example", ...no }),
  mcpOpenApi: (no: object) => openapi.mcpOpenApi({ openapi: "3.1.0" }, {}, { baseUrl: "https://a.example", ...no }),
  invokers: (no) => invokers.invokers([chain], no),
  mcpInvoker: (no) => invokers.mcpInvoker(chain, no),
};

/** Functions without options; `surfaceClients` takes those of a use, which are checked by nobody since none opens anything. */
const without: ReadonlySet<string> = new Set([
  ...["skillsFolder"],
  ...[
    "Refusal",
    "SurfaceError",
    "callerKey",
    "cellSource",
    "composeSurfaces",
    "content",
    "defineSurface",
    "fromSignal",
  ],
  ...[
    "implementSurfaces",
    "inProcess",
    "memoryContext",
    "operationRegistry",
    "projectSurface",
    "projected",
    "readOnly",
  ],
  ...["richContent", "surfaceClientRef", "surfaceClients", "withJsonSchema", "fromRateLimiterFlexible", "RpcFailure"],
  // What they take is data of a result, and not an option.
  ...["audioBlock", "imageBlock", "linkBlock", "resourceBlock", "textBlock", "readViewRules", "assertExposure"],
  ...["agents", "invoker", "loadTrpc", "operations", "toJSONSchema"],
]);

async function failureOf(run: () => unknown): Promise<unknown> {
  try {
    const made: unknown = await run();
    return made;
  } catch (cause) {
    return cause;
  }
}

describe("options of public functions", () => {
  it("are all looked at here, function by function", () => {
    const entries: readonly Readonly<Record<string, unknown>>[] = [
      main,
      http,
      audit,
      redis,
      testing,
      v1,
      agents,
      agentic,
      orpc,
      trpc,
      invokers,
      openapi,
    ];
    const functions = entries.flatMap((entry) =>
      Object.entries(entry).flatMap(([name, value]) => (typeof value === "function" ? [name] : [])),
    );
    const known = new Set([...Object.keys(fed), ...without]);
    expect(functions.filter((name) => !known.has(name))).toEqual([]);
    const verbs = Object.keys(main.derive).map((verb) => `derive.${verb}`);
    expect(verbs.filter((verb) => !known.has(verb))).toEqual([]);
  });

  it.each(Object.entries(fed))("%s refuses an option that does not exist, by its name", async (_name, feed) => {
    const unknown = { no_such_option: true };
    // Each takes what it is fed as its own options.
    const found = await failureOf(() => feed(unknown as never));
    expect(found).toBeInstanceOf(main.SurfaceError);
    expect(found).toMatchObject({ code: "INVALID_OPTION" });
    expect(String(found)).toContain('"no_such_option"');
  });

  it("that are misspelt are refused with the option that may have been meant", async () => {
    const messageOf = async (run: () => unknown): Promise<string> => String(await failureOf(run));
    const typo = { surfce: "readonly" };
    expect(await messageOf(() => main.stdio(typo as never))).toContain('did you mean "surface"?');
    expect(await messageOf(() => main.stdio({ Surface: "a" } as never))).toContain('did you mean "surface"?');
    expect(await messageOf(() => http.http({ alowedHosts: [] } as never))).toContain('did you mean "allowedHosts"?');
    expect(await messageOf(() => http.bearer({ resource, verfiy: verify } as never))).toContain(
      'did you mean "verify"?',
    );
    expect(await messageOf(() => app.tools({ t: { handelr: () => 1 } } as never))).toContain('did you mean "handler"?');
    expect(await messageOf(() => app.prompts({ p: { handle: () => "" } } as never))).toContain(
      'did you mean "handler"?',
    );
    const misspelt = { read: () => 1, mimetype: "text/plain" };
    expect(await messageOf(() => app.resources({ r: misspelt } as never))).toContain('did you mean "mimeType"?');
    expect(await messageOf(() => testing.createTestClient(app, { surface: "hub" } as never))).toMatch(
      /known options: .*"view"/,
    );
  });
});
