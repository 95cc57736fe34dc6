import { describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { kDefinition } from "../../src/builder/app-definition.ts";
import { defineSurface, mcp } from "../../src/index.ts";
import { Inspector } from "../../src/inspector/inspector.ts";
import type { ApprovalRow, PageUpdate } from "../../src/inspector/messages.ts";
import { createTestClient } from "../../src/testing/index.ts";
import { ManualClock } from "../links/manual-clock.ts";
import { atEndOfTest } from "../setup/end-of-test.ts";
import { until } from "../surface/support.ts";

/** Opens an app whose client shows no forms, and creates its inspectors. */
function openApp() {
  const removed = vi.fn<(path: string) => void>();
  const app = mcp(defineSurface("files", {}))
    .implement({})
    .tools({
      remove: {
        confirm: { type: "REMOVE" },
        input: z.object({ path: z.string() }),
        handler: ({ path }) => removed(path),
      },
    });
  const client = createTestClient(app);
  atEndOfTest(() => client.close());
  const clock = new ManualClock();
  const { inspected, approvals } = app[kDefinition];
  const inspect = (approve?: boolean): Inspector => {
    const inspector = new Inspector(inspected, {
      clock,
      approve,
      report: ({ cause }) => expect.unreachable(String(cause)),
    });
    atEndOfTest(() => inspector.close());
    return inspector;
  };
  const call = async (): Promise<string> => {
    const result = await client.tools.remove({ path: "/etc" });
    return "code" in result ? result.code : "ok";
  };
  const waiting = async (): Promise<ApprovalRow> => {
    await until(() => approvals.waiting().length === 1);
    const [approval] = approvals.waiting();
    if (approval === undefined) throw new Error("nothing waits");
    return approval;
  };
  return { inspect, call, waiting, clock, removed };
}

describe("an inspector whose pages may decide", () => {
  it("shows the confirmation once, as an approval, and runs the tool with the decision", async () => {
    const { inspect, call, waiting, clock, removed } = openApp();
    const inspector = inspect(true);
    const updates: PageUpdate[] = [];
    inspector.subscribe((json) => updates.push(JSON.parse(json)));
    const called = call();
    const { id } = await waiting();
    const { app, approvals, questions } = inspector.snapshot();
    expect(app.approve).toBe(true);
    const row = { id, tool: "remove", word: "REMOVE", message: expect.stringContaining('path: "/etc"') };
    expect(approvals).toMatchObject([row]);
    expect(questions.rows).toEqual([]);
    await clock.pass(2000);
    expect(updates.flatMap((update) => update.approvals ?? [])).toContainEqual(expect.objectContaining(row));
    expect(inspector.decide(id, { agree: true, word: "REMOVE" })).toBe(true);
    expect(inspector.decide(id, { agree: false })).toBe(false);
    expect(await called).toBe("ok");
    expect(removed.mock.calls).toEqual([["/etc"]]);
    expect(inspector.snapshot().approvals).toEqual([]);
    expect(inspector.exposure().entries).toMatchObject([{ name: "remove", confirm: "typed word" }]);
    // The time that a person took is no latency of the tool.
    expect(inspector.snapshot().tools.rows).toEqual([{ tool: "remove", calls: 1, failed: 0, refused: 0 }]);
  });

  it("refuses what waits when it closes", async () => {
    const { inspect, call, waiting, removed } = openApp();
    const inspector = inspect(true);
    const called = call();
    await waiting();
    inspector.close();
    expect(await called).toBe("CLIENT_CANNOT");
    expect(removed).not.toHaveBeenCalled();
  });

  it("is one of two: the first decision counts", async () => {
    const { inspect, call, waiting } = openApp();
    const [first, second] = [inspect(true), inspect(true)];
    const called = call();
    const { id } = await waiting();
    expect(second.snapshot().approvals).toMatchObject([{ id }]);
    expect(second.decide(id, { agree: false })).toBe(true);
    expect(first.decide(id, { agree: true, word: "REMOVE" })).toBe(false);
    expect(await called).toBe("DECLINED");
  });
});

describe("an inspector whose pages may not decide", () => {
  it("lets no call wait", async () => {
    const { inspect, call } = openApp();
    inspect();
    expect(await call()).toBe("CLIENT_CANNOT");
  });

  it("neither shows nor decides what waits for another inspector", async () => {
    const { inspect, call, waiting, removed } = openApp();
    const [blind, able] = [inspect(), inspect(true)];
    const called = call();
    const { id } = await waiting();
    expect(blind.snapshot()).toMatchObject({ app: { approve: false }, approvals: [] });
    expect(blind.snapshot().questions.rows).toMatchObject([{ tool: "remove", isConfirmation: true }]);
    expect(blind.decide(id, { agree: true, word: "REMOVE" })).toBe(false);
    expect(removed).not.toHaveBeenCalled();
    able.decide(id, { agree: false });
    expect(await called).toBe("DECLINED");
  });
});
