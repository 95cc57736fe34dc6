import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { Refusal, SurfaceError } from "../../src/errors.ts";
import {
  cell,
  collection,
  defineSurface,
  event,
  implementSurface,
  inProcess,
  listenUnixSocket,
  mcp,
  mcpResource,
  mcpTool,
  procedure,
  projected,
  projectSurface,
  stream,
  unixSocket,
  type McpOptions,
} from "../../src/index.ts";
import type { Fault } from "../../src/surface/fault.ts";
import { createTestClient } from "../../src/testing/index.ts";
import { noteRejections, settle } from "../surface/support.ts";

/** An error class of an application's database layer. */
class NotFound extends Error {
  readonly table: string;

  constructor(table: string) {
    super(`no row in ${table}: SELECT * FROM secret`);
    this.table = table;
  }
}

const toRefusal: NonNullable<McpOptions["toRefusal"]> = (error) =>
  error instanceof NotFound ? new Refusal("NO_SUCH_ROW", `there is no such ${error.table}`, { id: 7 }) : undefined;

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

function raise(): never {
  throw new NotFound("issue");
}

const text = z.string();
const surface = defineSurface("rows", {
  cell: mcpResource(cell({ schema: text, default: "" })),
  pushed: mcpResource(cell({ schema: text })),
  later: mcpResource(cell({ schema: text })),
  items: mcpResource(collection({ key: text, schema: text })),
  rows: mcpResource(collection({ key: text, schema: text })),
  latest: mcpResource(stream({ output: text })),
  recent: mcpResource(event({ input: text, output: text })),
  pull: mcpTool(stream({ output: text })),
  wait: mcpTool(event({ input: z.object({ n: z.number() }), output: text })),
  sync: mcpTool(procedure({ output: text })),
  late: mcpTool(procedure({})),
  steps: mcpTool(procedure({ progress: text })),
});

function openRows(options: McpOptions) {
  const source = { get: raise, subscribe: () => () => {} };
  // oxlint-disable-next-line require-yield -- a handler that throws before its first value
  const iterable = async function* () {
    await Promise.resolve();
    raise();
  };
  const app = mcp(surface, { onFault: () => {}, ...options })
    .implement({
      cell: source,
      pushed: { [Symbol.asyncIterator]: iterable },
      later: { get: async () => raise() },
      items: { ...source, keys: raise },
      rows: { keys: async () => ["a"], get: async () => raise() },
      latest: iterable,
      recent: raise,
      pull: iterable,
      wait: raise,
      sync: raise,
      late: async () => raise(),
      steps: async function* () {
        yield "begun";
        raise();
      },
    })
    .tools({
      bespoke: { handler: raise },
      through: { handler: (_args, { client }) => client.late.call() },
    })
    .prompts({ ask: { handler: raise } })
    .resources({ by_hand: { read: raise } });
  const client = createTestClient(app);
  closers.push(() => client.close().catch(() => {}));
  return client;
}

type Client = ReturnType<typeof openRows>;

const tools = ["pull", "sync", "late", "steps", "bespoke", "through"];
const uses: readonly (readonly [string, (client: Client) => Promise<unknown>])[] = [
  ...tools.map((name) => [name, callTool(name, {})] as const),
  ["wait", callTool("wait", { n: 1, timeout_ms: 5000 })],
  ...["cell", "pushed", "later", "items", "items/a", "rows/a", "latest", "by_hand"].map(
    (path) => [path, read(path)] as const,
  ),
  ["prompt", (client) => failureOf(client.prompt("ask"))],
];

function callTool(name: string, args: Record<string, number>) {
  return (client: Client) => client.request("tools/call", { name, arguments: args });
}

function read(path: string) {
  return (client: Client) => failureOf(client.request("resources/read", { uri: `surface://rows/${path}` }));
}

/** The message of a failed request, and what it says to programs. */
async function failureOf(request: Promise<unknown>): Promise<unknown> {
  return request.then(
    (answer) => ({ answer }),
    (error: Error & { data?: unknown }) => ({ message: error.message, data: error.data }),
  );
}

describe("toRefusal", () => {
  it.each(uses)("answers with its refusal for an error of the handler of %s, and logs nothing", async (_name, use) => {
    const faults: Fault[] = [];
    const translate = vi.fn<typeof toRefusal>(toRefusal);
    const answer = JSON.stringify(
      await use(openRows({ toRefusal: translate, onFault: (fault) => faults.push(fault) })),
    );
    expect(answer).toContain("NO_SUCH_ROW: there is no such issue");
    expect(answer).toContain('"details":{"id":7}');
    expect(answer).not.toContain("secret");
    expect(faults).toEqual([]);
    expect(translate).toHaveBeenCalled();
  });

  it("is called once for each error", async () => {
    const translate = vi.fn<typeof toRefusal>(toRefusal);
    const client = openOwn({ toRefusal: translate }, raise);
    await client.tools.member();
    expect(translate.mock.calls).toEqual([[expect.any(NotFound)]]);
    await client.tools.tool();
    expect(translate).toHaveBeenCalledTimes(2);
  });

  it.each([
    ["undefined", () => undefined, []],
    ["an error", () => new Error("no refusal"), [expect.objectContaining({ code: "INVALID_OUTPUT" })]],
    ["a promise", async () => raise(), [expect.objectContaining({ code: "INVALID_OUTPUT" })]],
    ["nothing, because it throws", () => explode(), [new Error("broken toRefusal")]],
  ])("keeps an error masked where it returns %s, and reports its own fault beside it", async (_what, wrong, own) => {
    const faults: Fault[] = [];
    const rejections = noteRejections();
    // What authors without types return.
    const client = openOwn({ toRefusal: wrong, onFault: (fault: Fault) => faults.push(fault) } as McpOptions, raise);
    for (const call of [client.tools.member, client.tools.tool]) {
      faults.length = 0;
      const answer = JSON.stringify(await call());
      expect(answer).toContain("INTERNAL");
      expect(answer).not.toMatch(/secret|broken|no refusal/);
      expect(faults.map(({ cause }) => cause)).toEqual([...own, expect.any(NotFound)]);
      expect(answer).toContain(faults.at(-1)?.correlationId);
    }
    await settle();
    expect(rejections.end()).toEqual([]);
  });

  it("is not called for a refusal or an error of this package", async () => {
    const translate = vi.fn<typeof toRefusal>(() => new Refusal("TRANSLATED", "no"));
    const causes = [
      new Refusal("OWN", "mine"),
      new SurfaceError("TIMEOUT", "late"),
      new SurfaceError("NOT_FOUND", "x"),
    ];
    const fail = ({ at }: { at: number }) => Promise.reject(causes[at]);
    const input = z.object({ at: z.number() });
    const app = mcp(defineSurface("own", { member: mcpTool(procedure({ input })) }), {
      toRefusal: translate,
      onFault: () => {},
    })
      .implement({ member: fail })
      .tools({ tool: { input, handler: fail } });
    const client = createTestClient(app);
    closers.push(() => client.close());
    for (const call of [client.tools.member, client.tools.tool]) {
      expect(await call({ at: 0 })).toMatchObject({ code: "OWN" });
      expect(await call({ at: 1 })).toMatchObject({ code: "TIMEOUT" });
      expect(await call({ at: 2 })).toMatchObject({ code: "INTERNAL" });
    }
    expect(translate).not.toHaveBeenCalled();
  });

  it("validates the details of a declared code", async () => {
    const faults: Fault[] = [];
    const desk = defineSurface("desk", {
      close: mcpTool(
        procedure({ input: z.object({ fits: z.boolean() }), errors: { GONE: z.object({ id: z.number() }) } }),
      ),
    });
    const app = mcp(desk, {
      toRefusal: (error) => new Refusal("GONE", "it is gone", error),
      onFault: (fault) => faults.push(fault),
    }).implement({ close: ({ fits }) => Promise.reject(fits ? { id: 1, hidden: "no" } : { id: "secret" }) });
    const client = createTestClient(app);
    closers.push(() => client.close());
    const fitting = await client.tools.close({ fits: true });
    expect(fitting).toMatchObject({ code: "GONE", error: { details: { id: 1 } } });
    expect(faults).toEqual([]);
    const unfit = await client.tools.close({ fits: false });
    expect(unfit).toMatchObject({ code: "GONE", text: "GONE: it is gone" });
    expect(JSON.stringify(unfit)).not.toContain("secret");
    expect(faults).toHaveLength(1);
  });

  it.each([
    ["the owner's own, if it has one", { toRefusal }, "NO_SUCH_ROW"],
    ["none, if only the app has one", {}, "INTERNAL"],
  ])("behind a link is %s", async (_which, options, code) => {
    const live = implementSurface(store, { find: raise }, { onFault: () => {}, ...options });
    const folder = await mkdtemp(join(tmpdir(), "to-refusal-"));
    closers.push(() => rm(folder, { recursive: true, force: true }));
    closers.push(() => live.close());
    const listener = await listenUnixSocket(live, join(folder, "s.sock"));
    closers.push(() => listener.close());
    const translate = vi.fn<typeof toRefusal>(toRefusal);
    for (const link of [inProcess(live), unixSocket(join(folder, "s.sock"))]) {
      const client = createTestClient(mcp(store, { toRefusal: translate, onFault: () => {} }).bridge(link));
      closers.push(() => client.close());
      expect(await client.tools.find()).toMatchObject({ isError: true, code });
    }
    expect(translate).not.toHaveBeenCalled();
  });

  it("applies to the handlers of a projection that the app keeps", async () => {
    const live = implementSurface(store, { find: () => "row" });
    closers.push(() => live.close());
    const projection = projectSurface(store, defineSurface("shown", { look: mcpTool(procedure({})) }), () => ({
      look: raise,
    }));
    const client = createTestClient(mcp(projection, { toRefusal }).bridge(projected(projection, inProcess(live))));
    closers.push(() => client.close());
    expect(await client.tools.look()).toMatchObject({ code: "NO_SUCH_ROW" });
  });

  it.each([
    ["a proxy that throws at every question", throwingProxy()],
    ["an error whose message throws", Object.defineProperty(new Error("x"), "message", { get: explode })],
    ["a promise that rejects", rejecting()],
    ["nothing", undefined],
  ])("keeps %s masked if it cannot be read", async (_what, cause) => {
    const probe: NonNullable<McpOptions["toRefusal"]> = (error) => new Refusal("READ", (error as Error).message);
    const client = openOwn({ toRefusal: probe, onFault: () => {} }, () => {
      throw cause;
    });
    for (const call of [client.tools.member, client.tools.tool]) {
      const answer = await call();
      expect(answer.isError && ["INTERNAL", "READ"].includes(answer.code)).toBe(true);
      expect(JSON.stringify(answer)).not.toContain("broken");
    }
  });

  it("answers as masked with a refusal that cannot be read", async () => {
    const hostile = Object.defineProperty(new Refusal("A", "b"), "code", { get: explode });
    const client = openOwn({ toRefusal: () => hostile, onFault: () => {} }, raise);
    for (const call of [client.tools.member, client.tools.tool]) {
      const answer = JSON.stringify(await call());
      expect(answer).toContain("INTERNAL");
      expect(answer).not.toMatch(/secret|broken/);
    }
  });

  it("must be a function", () => {
    // What authors without types pass.
    const options = { toRefusal: "NotFound" } as never;
    const refused = expect.objectContaining({
      code: "INVALID_OPTION",
      message: expect.stringContaining('"toRefusal"'),
    });
    expect(() => mcp(store, options)).toThrow(refused);
    expect(() => implementSurface(store, { find: raise }, options)).toThrow(refused);
  });
});

/** Opens an app with a procedure and a hand-written tool that both run `fail`. */
function openOwn(options: McpOptions, fail: () => never) {
  const app = mcp(defineSurface("own", { member: mcpTool(procedure({})) }), options)
    .implement({ member: fail })
    .tools({ tool: { handler: fail } });
  const client = createTestClient(app);
  closers.push(() => client.close());
  return client;
}

const store = defineSurface("store", { find: mcpTool(procedure({})) });

function throwingProxy(): unknown {
  return new Proxy({}, { getPrototypeOf: explode, get: explode, has: explode, getOwnPropertyDescriptor: explode });
}

function rejecting(): Promise<never> {
  const promise = Promise.reject(new Error("broken promise"));
  promise.catch(() => {});
  return promise;
}

function explode(): never {
  throw new Error("broken toRefusal");
}
