import { setTimeout } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import * as z from "zod";
import { defineSurface, mcp, mcpTool, procedure, readOnly } from "../../src/index.ts";
import type { AppRuntime } from "../../src/mcp/servable-app.ts";
import { legacyLine, modernLine } from "../fixtures/envelope.ts";
import { ConnectionHarness } from "../mcp/connection-harness.ts";
import { settle } from "../surface/support.ts";
import { StatelessHarness } from "./stateless/stateless-harness.ts";
import { SessionHarness, callOf } from "./sessions/session-harness.ts";

const stuck = readOnly(mcpTool(procedure({ input: z.object({}), output: z.object({}) })));
const surface = defineSurface("deaf", { stuck });

interface Closable {
  close(): Promise<void>;
}

const opened: Closable[] = [];

function keep<TClosable extends Closable>(closable: TClosable): TClosable {
  opened.push(closable);
  return closable;
}

/** An app whose handler does not listen to its signal, of each form, and goes on until it is let go. */
class Deaf implements Closable {
  readonly runtime: AppRuntime;
  running = 0;
  most = 0;
  readonly #lets: (() => void)[] = [];

  constructor() {
    const run = async (): Promise<Record<string, never>> => {
      this.running += 1;
      this.most = Math.max(this.most, this.running);
      await new Promise<void>((resolve) => this.#lets.push(resolve));
      this.running -= 1;
      return {};
    };
    this.runtime = mcp(surface, { uriPrefix: "app://", version: "1.0.0", onFault: () => {} })
      .implement({ stuck: run })
      .tools({ bespoke: { mutates: false, handler: run } })
      .open();
  }

  letGo(): void {
    for (const next of this.#lets.splice(0)) next();
  }

  async close(): Promise<void> {
    this.letGo();
    await settle(50);
    this.letGo();
  }
}

function open(): Deaf {
  return keep(new Deaf());
}

afterEach(async () => {
  await Promise.all(opened.splice(0).map((each) => each.close()));
});

describe.each(["stuck", "bespoke"])("The permit of a handler that ignores its signal, of %s,", (name) => {
  it("stays taken when modern clients leave, and is freed when the handler ends", async () => {
    const deaf = open();
    const harness = keep(new StatelessHarness(deaf.runtime, { maxInFlight: 4 }));
    for (let id = 0; id < 40; id += 1) {
      const reply = harness.call(id, name);
      await settle(10);
      reply.cut();
    }
    expect([deaf.running, deaf.most]).toEqual([4, 4]);
    const next = harness.call(99, name);
    await settle(20);
    expect(deaf.running).toBe(4);
    deaf.letGo();
    await harness.until(() => deaf.running === 1);
    deaf.letGo();
    expect((await harness.answered(next)).plain).toMatchObject({ status: 200, body: { id: 99 } });
  });

  it("stays taken when its client cancels in a session, and is free when it has ended", async () => {
    const deaf = open();
    const harness = keep(new SessionHarness(deaf.runtime, { maxInFlight: 4 }));
    const session = await harness.open();
    for (let id = 0; id < 40; id += 1) {
      harness.post(callOf(id, name), { session });
      await settle(10);
      harness.post({ method: "notifications/cancelled", params: { requestId: id } }, { session });
    }
    expect([deaf.running, deaf.most]).toEqual([4, 4]);
    const next = harness.post(callOf(99, name), { session });
    deaf.letGo();
    await harness.until(() => deaf.running === 1);
    deaf.letGo();
    await harness.until(() => next.given !== undefined);
    expect(next.plain).toMatchObject({ status: 200, body: { id: 99 } });
  });

  it("counts for its session after the session has ended", async () => {
    const deaf = open();
    const harness = keep(new SessionHarness(deaf.runtime, { maxInFlight: 1, maxSessions: 2 }));
    for (let round = 0; round < 10; round += 1) {
      const session = await harness.open();
      harness.post(callOf(round, name), { session });
      await settle(10);
      harness.delete({ session });
      await settle(10);
    }
    expect(deaf.most).toBe(2);
    deaf.letGo();
    await harness.until(() => harness.setting.admission.counts.sessions === 0);
    expect(await harness.open()).not.toBe("");
  });

  it.each(["legacy", "modern"] as const)("stays taken over standard input when its %s client cancels", async (era) => {
    const deaf = open();
    const harness = await keep(new ConnectionHarness(deaf.runtime)).open(era);
    const write = era === "modern" ? modernLine : legacyLine;
    for (let id = 0; id < 100; id += 1) {
      harness.gate.receive(write(id, "tools/call", { name, arguments: {} }));
      await setTimeout(1);
      const params = { requestId: id };
      harness.gate.receive(JSON.stringify({ jsonrpc: "2.0", method: "notifications/cancelled", params }));
    }
    expect([deaf.running, deaf.most]).toEqual([64, 64]);
    deaf.letGo();
    const answered = harness.request(era, 200, { method: "tools/call", params: { name, arguments: {} } });
    await settle(20);
    deaf.letGo();
    expect((await answered)["result"]).toBeDefined();
  });
});
