import * as z from "zod";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { mcp } from "../../src/builder/mcp.ts";
import { imageBlock } from "../../src/catalog/content/content.ts";
import { body } from "../../src/catalog/content/resource-body.ts";
import { defineSurface } from "../../src/surface/define-surface.ts";
import type { Fault } from "../../src/surface/fault.ts";
import { createTestClient, type TestClient } from "../../src/testing/index.ts";
import { secret, unwritable } from "../fixtures/unwritable.ts";

const png = { data: "aGk=", mimeType: "image/png" };

/** What the handlers of the app give next. */
let next: () => unknown = () => "good";
const faults: Fault[] = [];
const bad = (): never => next() as never;

const app = mcp(defineSurface("s", {}), { uriPrefix: "app://", onFault: (fault) => void faults.push(fault) })
  .implement({})
  .prompts({
    whole: { handler: bad },
    message: { handler: () => [{ role: "user", content: bad() }] },
    role: { handler: () => [{ role: bad(), content: "a" }] },
    image: { handler: () => [{ role: "user", content: imageBlock({ ...png, data: bad() }) }] },
    begun: { input: z.object({ of: z.string() }), complete: { of: bad }, handler: () => "a" },
    each: { input: z.object({ of: z.string() }), complete: { of: () => ["good", bad()] }, handler: () => "a" },
  })
  .resources({
    plain: { read: bad },
    text: { read: () => body({ mimeType: "text/plain", text: bad() }) },
    bytes: { read: () => body({ mimeType: "image/png", bytes: bad() }) },
    type: { read: () => body({ mimeType: bad(), text: "a" }) },
    about: { read: () => body({ mimeType: "text/plain", text: "a", meta: bad() }) },
  });

let client: TestClient<never, never>;
beforeEach(() => {
  faults.length = 0;
  client = createTestClient(app) as never;
});
afterEach(() => client.close());

/** What came of a request: the text of its result, or of what the protocol says instead. */
async function outcomeOf(method: Parameters<typeof client.request>[0], params: object): Promise<string> {
  try {
    return JSON.stringify(await client.request(method, params as never));
  } catch (cause) {
    const { name, code, message, data } = cause as { name: string; code: unknown; message: unknown; data: unknown };
    return JSON.stringify({ name, code, message, data });
  }
}

/** Whether something is what the protocol calls a result, or a failure that was meant: no throw of anything else. */
function isMeant(text: string): boolean {
  const { name = "RpcFailure" } = JSON.parse(text) as { name?: string };
  return name === "RpcFailure" && !text.includes(secret) && text.length < 2 * 1024 * 1024;
}

describe("hand-written entries whose handlers return unserialisable values", () => {
  it.each(Object.entries(unwritable))(
    "are answered for in the protocol's form when that is %s",
    async (_what, make) => {
      next = make;
      for (const name of ["whole", "message", "role", "image"]) {
        expect([name, isMeant(await outcomeOf("prompts/get", { name }))]).toEqual([name, true]);
      }
      for (const key of ["plain", "text", "bytes", "type", "about"]) {
        expect([key, isMeant(await outcomeOf("resources/read", { uri: `app://${key}` }))]).toEqual([key, true]);
      }
    },
  );

  it.each(Object.entries(unwritable))("propose only texts when completers return %s", async (_what, make) => {
    next = make;
    const complete = (name: string): Promise<string> =>
      outcomeOf("completion/complete", { ref: { type: "ref/prompt", name }, argument: { name: "of", value: "" } });
    expect(JSON.parse(await complete("begun"))).toMatchObject({ completion: { values: [], hasMore: false } });
    const { completion } = JSON.parse(await complete("each")) as { completion: { values: string[] } };
    expect(completion.values.filter((value) => value !== "good")).toEqual([]);
  });

  it.each<[string, () => unknown]>([
    [
      "throws for an item",
      () => new Proxy(["a"], { get: (list, key) => (key === "0" ? raise() : Reflect.get(list, key)) }),
    ],
    ["was revoked", revoked],
    ["has a million texts", () => Array.from({ length: 1_000_000 }, (_none, index) => `n${index}`)],
    ["is all holes", () => Array.from({ length: 1_000_000 })],
    ["holds a text of 10 MB", () => ["x".repeat(10 ** 7)]],
    ["holds half a character", () => ["\ud800"]],
  ])("answer within the bounds of the protocol when the list of a completer %s", async (_what, make) => {
    next = make;
    const text = await outcomeOf("completion/complete", {
      ref: { type: "ref/prompt", name: "begun" },
      argument: { name: "of", value: "" },
    });
    expect(isMeant(text)).toBe(true);
    const { completion } = JSON.parse(text) as { completion: { values: string[] } };
    expect(completion.values.length).toBeLessThanOrEqual(100);
    expect(text.length).toBeLessThan(16 * 1024);
  });
});

function raise(): never {
  throw new Error(secret);
}

function revoked(): unknown {
  const { proxy, revoke } = Proxy.revocable([], {});
  revoke();
  return proxy;
}
