import { describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { kDefinition } from "../../../src/builder/app-definition.ts";
import type { Approval, Approvals } from "../../../src/call/approvals.ts";
import { http } from "../../../src/http/index.ts";
import { defineSurface, mcp, type Observation } from "../../../src/index.ts";
import { atEndOfTest } from "../../setup/end-of-test.ts";
import { until } from "../../surface/support.ts";
import { type Answers, type AskedClient, type AskedClientEntry, askedClients } from "./asking-clients.ts";

interface Served {
  readonly approvals: Approvals;
  readonly client: AskedClient;
  readonly close: () => Promise<void>;
  readonly records: readonly Observation[];
  readonly removed: ReturnType<typeof vi.fn<(path: string) => void>>;
  /** Calls the tool, and waits until its confirmation waits. */
  readonly begin: (
    name: string,
    options?: { readonly signal: AbortSignal },
  ) => Promise<{ readonly called: Promise<unknown>; readonly approval: Approval }>;
}

async function serve({ connect }: AskedClientEntry, answers: Answers = {}): Promise<Served> {
  const removed = vi.fn<(path: string) => void>();
  const records: Observation[] = [];
  const input = z.object({ path: z.string() });
  const app = mcp(defineSurface("files", {}), { observe: (record) => void records.push(record) })
    .implement({})
    .tools({
      remove: { confirm: true, input, handler: ({ path }) => removed(path) },
      tied: { confirm: true, onDisconnect: "abort", input, handler: ({ path }) => removed(path) },
    });
  const { approvals } = app[kDefinition];
  const serving = await http({ exit: false, drainMs: 0 }).serve(app);
  atEndOfTest(() => serving.close());
  const client = await connect(serving.url, answers);
  atEndOfTest(() => client.close());
  return {
    approvals,
    client,
    close: () => serving.close(),
    records,
    removed,
    begin: async (name, options) => {
      // The SDKs reject with errors of the protocol.
      const called = client.callTool({ name, arguments: { path: "/etc" } }, options).catch((cause: unknown) => cause);
      await until(() => approvals.waiting().length === 1);
      const [approval] = approvals.waiting();
      if (approval === undefined) throw new Error("nothing waits");
      return { called, approval };
    },
  };
}

const ignore = { changed: (): void => {} };

describe.each(askedClients)("a client that shows no forms, $name", (entry) => {
  it("waits for a decision elsewhere, with which the tool runs once or not at all", async () => {
    const { approvals, begin, removed } = await serve(entry);
    approvals.open(ignore);
    const agreed = await begin("remove");
    expect(agreed.approval).toMatchObject({ tool: "remove", message: 'Run "remove"?\npath: "/etc"' });
    expect(removed).not.toHaveBeenCalled();
    expect(approvals.decide(agreed.approval.id, { agree: true })).toBe(true);
    expect(await agreed.called).not.toHaveProperty("isError");
    expect(removed.mock.calls).toEqual([["/etc"]]);
    const declined = await begin("remove");
    approvals.decide(declined.approval.id, { agree: false });
    expect(JSON.stringify(await declined.called)).toContain("DECLINED");
    expect(removed).toHaveBeenCalledTimes(1);
  });

  it("is refused as ever while approvals are closed, and when they close", async () => {
    const { approvals, client, begin, removed } = await serve(entry);
    const args = { name: "remove", arguments: { path: "/etc" } };
    const told = async (called: Promise<unknown>): Promise<string> =>
      called.then(
        (result) => JSON.stringify(result),
        (cause: unknown) => String(cause),
      );
    const before = await told(client.callTool(args));
    expect(before).toContain("does not support elicitation by form");
    const close = approvals.open(ignore);
    const { called } = await begin("remove");
    close();
    const after = await called;
    expect(after instanceof Error ? String(after) : JSON.stringify(after)).toBe(before);
    expect(removed).not.toHaveBeenCalled();
  });

  it("takes its call back by cancelling it", async () => {
    const { approvals, begin, removed } = await serve(entry);
    approvals.open(ignore);
    const controller = new AbortController();
    const { called, approval } = await begin("remove", { signal: controller.signal });
    controller.abort();
    await called;
    await until(() => approvals.waiting().length === 0);
    expect(approvals.decide(approval.id, { agree: true })).toBe(false);
    expect(removed).not.toHaveBeenCalled();
  });

  it("takes its call back by leaving, if the tool ends with the connection", async () => {
    const { approvals, client, begin, removed } = await serve(entry);
    approvals.open(ignore);
    const { approval } = await begin("tied");
    await client.close();
    await until(() => approvals.waiting().length === 0);
    expect(approvals.decide(approval.id, { agree: true })).toBe(false);
    expect(removed).not.toHaveBeenCalled();
  });

  it("loses its call with the app", async () => {
    const { approvals, close, begin, removed } = await serve(entry);
    approvals.open(ignore);
    const { called, approval } = await begin("remove");
    await close();
    expect(approvals.waiting()).toEqual([]);
    expect(approvals.decide(approval.id, { agree: true })).toBe(false);
    await called;
    expect(removed).not.toHaveBeenCalled();
  });

  it("is not named as the one who decided", async () => {
    const { approvals, begin, records } = await serve(entry, { roots: async () => ({ roots: [] }) });
    approvals.open(ignore);
    for (const agree of [true, false]) {
      const { called, approval } = await begin("remove");
      approvals.decide(approval.id, { agree });
      await called;
    }
    const questions = records.filter(({ type }) => type.startsWith("question"));
    const decided = { kind: "elicit", isConfirmation: true, decidedOn: "page", operation: { id: "remove" } };
    expect(questions).toMatchObject([
      { type: "question-asked", ...decided },
      { type: "question-answered", ...decided, answer: "accept" },
      { type: "question-asked", ...decided },
      { type: "question-answered", ...decided, answer: "decline" },
    ]);
    const ids = questions.map((record) => Reflect.get(record, "id"));
    expect(ids[0]).toBe(ids[1]);
    expect(ids[2]).toBe(ids[3]);
    expect(ids[0]).not.toBe(ids[2]);
  });
});

describe.each(askedClients)("a client that shows forms, $name", (entry) => {
  it("asks its own user only", async () => {
    const { approvals, client, removed } = await serve(entry, {
      elicit: async () => ({ action: "accept", content: {} }),
    });
    approvals.open({ changed: () => expect.unreachable("nothing waits") });
    await client.callTool({ name: "remove", arguments: { path: "/etc" } });
    expect(removed).toHaveBeenCalledTimes(1);
  });
});
