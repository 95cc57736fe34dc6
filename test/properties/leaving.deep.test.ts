import { sample } from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { http, type HttpServing } from "../../src/http/http.ts";
import { countTimers } from "../chaos/count-timers.ts";
import { createDemo } from "../http/support/demo-app.ts";
import { leave, leaving, stay, type Target } from "./leaving-client.ts";

const atOnce = 16;
// One place: a single one that is not given back is missed.
const bounds = { maxInFlight: 1, maxStreams: 64, stallMs: 200, sessionIdleMs: 4000 };
const soon = { timeout: 20_000 };

const { setTimeout: arm, clearTimeout: disarm } = globalThis;
let serving: HttpServing | undefined;
const unhandled: unknown[] = [];
const note = (cause: unknown): unknown => unhandled.push(cause);

beforeEach(() => void process.on("unhandledRejection", note));
afterEach(async () => {
  process.off("unhandledRejection", note);
  Object.assign(globalThis, { setTimeout: arm, clearTimeout: disarm });
  vi.restoreAllMocks();
  await serving?.close();
});

async function openSession(port: number): Promise<Target> {
  const heard = await stay({ port, session: "" }, { ask: "initialize", era: "legacy" });
  const [, session = ""] = /mcp-session-id: (\S+)/i.exec(heard) ?? [];
  return { port, session };
}

/** As many clients as there are sorts of them and more, some at once, while what they watch changes. */
async function storm(target: Target): Promise<void> {
  const clients = sample(leaving, { numRuns: 400, seed: 20_260_728 });
  for (let start = 0; start < clients.length; start += atOnce) {
    const left = clients.slice(start, start + atOnce).map((client) => leave(target, client));
    expect(await stay(target, { ask: "change", era: "modern" })).toMatch(/^HTTP\/1.1 200 /);
    await Promise.all(left);
  }
}

describe("clients that go away", () => {
  it.each([
    ["are soon written to", 15],
    ["are left alone", 60_000],
  ])(
    "leave nothing behind, at whatever point of a request or an answer, when quiet streams %s",
    async (_how, keepAliveMs) => {
      const errors = vi.spyOn(console, "error").mockReturnValue();
      const timers = countTimers();
      const demo = createDemo();
      serving = await http({ exit: false, keepAliveMs, ...bounds }).serve(demo.app);
      const target = await openSession(serving.port);
      await storm(target);
      await vi.waitFor(() => expect([demo.sleeping(), serving?.stats().streams]).toEqual([0, 0]), soon);
      expect(demo.aborted()).toBeGreaterThan(0);
      for (const era of ["legacy", "modern"] as const) {
        expect(await stay(target, { ask: "call", era })).toContain("slept");
        expect(await stay(target, { ask: "read", era })).toMatch(/^HTTP\/1.1 200 /);
      }
      // Those whose clients never heard of them, too.
      await vi.waitFor(() => expect(serving?.stats().sessions).toBe(0), soon);
      await serving.close();
      expect(timers()).toBe(0);
      expect(unhandled).toEqual([]);
      expect(errors.mock.calls).toEqual([]);
    },
    120_000,
  );
});
