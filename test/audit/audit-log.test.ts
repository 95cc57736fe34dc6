import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
} from "node:fs";
import { statSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { auditLog, type AuditLogOptions } from "../../src/audit/index.ts";
import { verifyChain } from "../../src/audit/verify-chain.ts";
import { kDefinition } from "../../src/builder/app-definition.ts";
import { defineSurface, mcp, redactSecrets, type Observation } from "../../src/index.ts";
import { createTestClient } from "../../src/testing/index.ts";
import { createAuditedApp, freshPath, HeldStream, operationOf, readLines } from "./support.ts";

/** Returns a record without an app. */
function refusal(index: number, text = ""): Observation {
  return { type: "refused", at: 0, transport: "http", stage: "token", status: 401, address: `${index}${text}` };
}

/** Returns the files of a log, the oldest first. */
function filesOf(path: string): string[] {
  const names = readdirSync(dirname(path)).toSorted(
    (first, second) => first.length - second.length || (first < second ? -1 : 1),
  );
  const [current, ...rotated] = names.map((name) => join(dirname(path), name));
  return [...rotated.toReversed(), ...(current === undefined ? [] : [current])];
}

async function expectIntact(path: string): Promise<void> {
  const report = await verifyChain(filesOf(path));
  expect(report.broken).toBeUndefined();
}

describe("auditLog()", () => {
  it("writes that a person on the page decided a confirmation, and not the client", async () => {
    const path = freshPath();
    const audit = auditLog({ path });
    const app = mcp(defineSurface("shop", {}), { observe: audit })
      .implement({})
      .tools({ pay: { confirm: true, handler: () => "paid" } });
    const { approvals } = app[kDefinition];
    approvals.open({
      changed: () => {
        for (const { id } of approvals.waiting()) approvals.decide(id, { agree: true });
      },
    });
    const client = createTestClient(app);
    expect(await client.tools.pay({})).toMatchObject({ text: "paid" });
    await client.close();
    await audit.close();
    const lines = readLines(path).filter(({ type }) => String(type).startsWith("question"));
    expect(lines).toMatchObject([
      { type: "question-asked", isConfirmation: true, decidedOn: "page", operation: { id: "pay" } },
      { type: "question-answered", isConfirmation: true, decidedOn: "page", answer: "accept" },
    ]);
  });

  it("writes who did what, and with which outcome, when requests arrive", async () => {
    const path = freshPath();
    const { call, audit } = createAuditedApp({ path });
    await call("pay", { order: 7 });
    await call("look", { at: "x" });
    await call("pay", { order: "no" });
    await call("refuse", {});
    await call("unknown-name", {});
    await audit.close();
    const lines = readLines(path).filter(({ method }) => method === "tools/call");
    const caller = { id: "anonymous", isAnonymous: true };
    expect(lines[0]).toEqual({
      v: 1,
      seq: expect.any(Number),
      prev: expect.stringMatching(/^[0-9a-f]{64}$/),
      type: "request-start",
      at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      id: expect.any(String),
      ...{ transport: "http", protocol: "2026-07-28", caller, client: expect.any(Object), view: "default" },
      method: "tools/call",
      operation: { kind: "tool", id: "pay", name: "pay", mutates: true },
      bytesIn: expect.any(Number),
    });
    expect(lines[1]).toMatchObject({ type: "request-end", id: lines[0]?.["id"], outcome: "ok", decision: "allowed" });
    expect(lines[1]).toMatchObject({ ms: expect.any(Number), bytesOut: expect.any(Number) });
    expect(lines.slice(2)).toMatchObject([
      { type: "request-end", operation: { id: "look", mutates: false }, outcome: "ok" },
      { type: "request-start", operation: { id: "pay" } },
      { type: "request-end", outcome: "refused", refusedAt: "params", decision: "denied", code: "VALIDATION_ERROR" },
      { type: "request-start", operation: { id: "refuse" } },
      { type: "request-end", outcome: "failed", decision: "allowed", code: "NOT_NOW" },
      { type: "request-end", outcome: "refused", refusedAt: "name", decision: "denied" },
    ]);
    expect(readFileSync(path, "utf8")).not.toContain("unknown-name");
    await expectIntact(path);
  });

  it("creates the file for its user alone, and its folder, when they do not exist", async () => {
    const path = freshPath();
    const audit = auditLog({ path });
    await audit.close();
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(dirname(path)).mode & 0o777).toBe(0o700);
    expect(readLines(path)).toMatchObject([
      { type: "opened", after: "new", seq: 1 },
      { type: "closed", seq: 2 },
    ]);
  });

  it.each([
    ["a symbolic link", (path: string) => symlinkSync("/tmp/surface-mcp-elsewhere", path), "symbolic link"],
    ["a folder", (path: string) => mkdirSync(path), "EISDIR"],
    ["a file of another kind", (path: string) => writeFileSync(path, "root:x:0:0\n"), "not end as an audit log"],
    ["a file without a newline", (path: string) => writeFileSync(path, "hello"), "not end as an audit log"],
    ["an empty line", (path: string) => writeFileSync(path, "hello\n\n"), "not end as an audit log"],
  ])("throws INVALID_OPTION when the path is %s", (_what, make, problem) => {
    const path = freshPath();
    mkdirSync(dirname(path));
    make(path);
    expect(() => auditLog({ path })).toThrow(
      expect.objectContaining({ code: "INVALID_OPTION", message: expect.stringContaining(problem) }),
    );
    expect(existsSync("/tmp/surface-mcp-elsewhere")).toBe(false);
  });

  it.each<[object, string]>([
    [{}, 'either "path" or "stream"'],
    [{ path: "a", stream: new HeldStream() }, 'either "path" or "stream"'],
    [{ path: "a", maxBytes: 1 }, '"maxBytes" must be'],
    [{ path: "a", values: "all" }, '"values" must be'],
    [{ path: "a", level: "all" }, '"level"'],
  ])("throws INVALID_OPTION when options are wrong (%#)", (options, problem) => {
    expect(() => auditLog(options as never)).toThrow(
      expect.objectContaining({ code: "INVALID_OPTION", message: expect.stringContaining(problem) }),
    );
  });

  it.each<[string, AuditLogOptions["values"], shown: unknown]>([
    ["no values", undefined, undefined],
    ["digests", "digest", { sha256: expect.stringMatching(/^[0-9a-f]{64}$/) }],
    ["redacted values", redactSecrets(), expect.objectContaining({ password: "[redacted]", pin: "[redacted]" })],
  ])("writes no secret, at any depth, when it has %s", async (_what, values, shown) => {
    const secrets = { password: "sentinel-1", pin: "sentinel-2", list: [{ apiKey: "sentinel-3" }] };
    const args = { user: '{"token":"sentinel-4"}', ...secrets };
    const path = freshPath();
    const { call, audit } = createAuditedApp({ path, ...(values && { values }) });
    await call("login", args);
    await call("login", { ...args, "sentinel-name": 1, user: 1 });
    await call("fault", {});
    await call("refuse", {});
    await audit.close();
    const text = readFileSync(path, "utf8");
    // The name of a field is no secret, and a redactor leaves it.
    expect(text.replaceAll('"sentinel-name":1', "")).not.toContain("sentinel");
    expect(readLines(path).find((line) => operationOf(line) === "login")?.["arguments"]).toEqual(shown);
  });

  it("writes one digest for arguments that differ in their secrets alone", async () => {
    const path = freshPath();
    const { call, audit } = createAuditedApp({ path, values: "digest" });
    for (const password of ["1234", "1235"]) await call("login", { user: "ada", password });
    await call("login", { user: "bob", password: "1234" });
    await audit.close();
    const digests = readLines(path).flatMap(({ type, arguments: args }) => (type === "request-start" ? [args] : []));
    expect(digests).toHaveLength(3);
    expect(digests[1]).toEqual(digests[0]);
    expect(digests[2]).not.toEqual(digests[0]);
  });

  it("leaves the arguments out, and shortens texts, when a line would be too large", async () => {
    const path = freshPath();
    const { call, audit } = createAuditedApp({ path, values: (value) => value });
    await call("look", { at: "a".repeat(100_000) });
    audit.record(refusal(1, "b".repeat(100_000)));
    await audit.close();
    const [look, refused] = readLines(path).filter(({ isCut }) => isCut === true);
    expect(look).toMatchObject({ arguments: "[omitted]", operation: { id: "look" } });
    expect(String(refused?.["address"]).length).toBeLessThan(300);
    await expectIntact(path);
  });
});

describe("the files of an audit log", () => {
  it("hold at most maxBytes each, and continue one chain, when they are rotated", async () => {
    const path = freshPath();
    const audit = auditLog({ path, maxBytes: 65_536, maxFiles: 3 });
    for (let index = 0; index < 3000; index += 1) {
      audit.record(refusal(index));
      if (index % 50 === 0) await audit.flush();
    }
    await audit.close();
    const files = filesOf(path);
    expect(files).toHaveLength(4);
    for (const file of files) expect(statSync(file).size).toBeLessThanOrEqual(65_536);
    for (const file of files.slice(0, -1)) expect(statSync(file).size).toBeGreaterThan(50_000);
    const report = await verifyChain(files);
    expect(report).toMatchObject({ broken: undefined, notes: [], last: { seq: 3002 } });
    expect(report.first).toBeGreaterThan(1);
  });

  it("continue the chain when the process starts again, also right after a rotation", async () => {
    const path = freshPath();
    await auditLog({ path }).close();
    renameSync(path, `${path}.1`);
    await auditLog({ path }).close();
    await auditLog({ path }).close();
    const report = await verifyChain([`${path}.1`, path]);
    expect(report).toMatchObject({ broken: undefined, notes: [], records: 6, first: 1, last: { seq: 6 } });
  });

  it.each([
    ["moved away", (path: string) => renameSync(path, `${path}.1`)],
    ["removed", (path: string) => rmSync(path)],
    ["emptied", (path: string) => truncateSync(path)],
  ])("go on in a new file when the file was %s", async (_what, change) => {
    const path = freshPath();
    const audit = auditLog({ path });
    audit.record(refusal(1));
    await audit.flush();
    change(path);
    audit.record(refusal(2));
    await audit.close();
    expect(readLines(path)).toMatchObject([
      { seq: 3, address: "2" },
      { seq: 4, type: "closed" },
    ]);
    await expectIntact(path);
  });

  it("name the incomplete line when a process was killed in the middle of it", async () => {
    const path = freshPath();
    const first = auditLog({ path });
    first.record(refusal(1));
    await first.close();
    truncateSync(path, statSync(path).size - 10);
    expect(await verifyChain([path])).toMatchObject({
      broken: undefined,
      notes: [{ line: 3, text: expect.stringContaining("incomplete") }],
    });
    // The process was killed again, while it wrote its first record.
    appendFileSync(path, '\n{"v":1,"se');
    const again = auditLog({ path });
    await again.close();
    const notes = [
      { line: 3, text: expect.stringContaining("incomplete") },
      { line: 5, text: expect.stringContaining("process before was killed") },
    ];
    expect(await verifyChain([path])).toMatchObject({ broken: undefined, records: 4, notes });
    await auditLog({ path }).close();
    expect(await verifyChain([path])).toMatchObject({ broken: undefined, records: 6, notes });
  });

  it("continue the chain of another process that writes the same file", async () => {
    const path = freshPath();
    const audit = auditLog({ path });
    audit.record(refusal(1));
    await audit.flush();
    await auditLog({ path }).close();
    audit.record(refusal(2));
    await audit.close();
    const report = await verifyChain([path]);
    expect(report).toMatchObject({ broken: undefined, records: 7 });
    expect(report.notes.map(({ line }) => line)).toEqual([3, 5]);
  });

  it("are broken at an incomplete line that no start of a process follows", async () => {
    const path = freshPath();
    await auditLog({ path }).close();
    const [opened, closed] = readFileSync(path, "utf8").split("\n");
    writeFileSync(path, `${opened}\n{"v":1,"seq":2\n${closed}\n`);
    expect(await verifyChain([path])).toMatchObject({ broken: { line: 2 }, records: 1 });
  });

  it("keep a last line that lacks only its newline when the process starts again", async () => {
    const path = freshPath();
    await auditLog({ path }).close();
    truncateSync(path, statSync(path).size - 1);
    await auditLog({ path }).close();
    expect(await verifyChain([path])).toMatchObject({ broken: undefined, records: 4, notes: [] });
  });
});

describe("an audit log that cannot be written", () => {
  it("reports one fault, and writes what waits when the path is usable again", async () => {
    const path = freshPath();
    const { call, audit, faults } = createAuditedApp({ path });
    await audit.flush();
    rmSync(path);
    mkdirSync(path);
    await call("pay", { order: 1 });
    await call("pay", { order: 2 });
    await expect(audit.flush()).rejects.toMatchObject({ code: "UNAVAILABLE" });
    expect(faults).toHaveLength(1);
    rmdirSync(path);
    await vi.waitFor(() => expect(readLines(path).length).toBeGreaterThanOrEqual(4), 5000);
    await audit.close();
    const ends = readLines(path).filter(({ type }) => type === "request-end");
    expect(ends.filter((line) => operationOf(line) === "pay")).toHaveLength(2);
    expect(faults).toHaveLength(1);
    await expectIntact(path);
  });

  it("writes nothing into a file that is no audit log, however often it tries", async () => {
    const path = freshPath();
    const audit = auditLog({ path, onFault: () => {} });
    await audit.flush();
    rmSync(path);
    writeFileSync(path, "notes\n");
    audit.record(refusal(1));
    await expect(audit.flush()).rejects.toMatchObject({ code: "UNAVAILABLE" });
    await expect(audit.close()).rejects.toMatchObject({ code: "UNAVAILABLE" });
    expect(readFileSync(path, "utf8")).toBe("notes\n");
  });

  it("counts the records that do not fit when the stream is slow, and delays no call", async () => {
    const stream = new HeldStream();
    const { call, audit, faults } = createAuditedApp({ stream, maxQueueBytes: 65_536 });
    for (let index = 0; index < 1000; index += 1) audit.record(refusal(index));
    await call("pay", { order: 1 });
    stream.open();
    await audit.flush();
    audit.record(refusal(1000));
    await audit.close();
    const { lines } = stream;
    const written = lines.filter(({ type }) => type === "refused").length;
    const lost = lines.filter(({ type }) => type === "lost");
    expect(lost).toHaveLength(1);
    const count = Number(lost[0]?.["count"]);
    expect(count).toBeGreaterThan(500);
    expect(written + count).toBe(1001);
    // The call came after the loss.
    expect(lines.slice(lines.indexOf(lost[0] ?? {}) + 1).map(({ type }) => type)).toEqual([
      ...["request-start", "request-end", "refused", "closed"],
    ]);
    expect(lines.map(({ seq }) => seq)).toEqual(lines.map((_line, index) => index + 1));
    expect(faults).toEqual([]);
  });

  it("reports one fault when the stream fails", async () => {
    const stream = new HeldStream();
    const { call, audit, faults } = createAuditedApp({ stream });
    stream.destroy(new Error("gone"));
    await call("pay", { order: 1 });
    await expect(audit.flush()).rejects.toMatchObject({ code: "UNAVAILABLE" });
    await expect(audit.close()).rejects.toMatchObject({ code: "UNAVAILABLE" });
    expect(faults).toHaveLength(1);
  });
});

describe('an audit log with mode "required"', () => {
  it("runs a call that may change something when its start is written, and not before", async () => {
    const stream = new HeldStream();
    const { call, audit, runs } = createAuditedApp({ stream, mode: "required" });
    const paying = call("pay", { order: 1 });
    await call("look", { at: "x" });
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(runs()).toBe(0);
    expect(stream.text).toContain('"type":"request-start"');
    stream.open();
    await paying;
    expect(runs()).toBe(1);
    await audit.close();
  });

  it("refuses calls when the file cannot be written, and runs them when it can again", async () => {
    const path = freshPath();
    const { call, audit, runs } = createAuditedApp({ path, mode: "required" });
    await call("pay", { order: 1 });
    await audit.flush();
    rmSync(path);
    mkdirSync(path);
    const refused = { code: -32603, message: expect.stringContaining("cannot be recorded") };
    expect(await call("pay", { order: 2 })).toMatchObject(refused);
    expect(await call("look", { at: "x" })).toMatchObject(refused);
    expect(runs()).toBe(1);
    rmdirSync(path);
    await vi.waitFor(() => audit.flush(), 5000);
    await call("pay", { order: 3 });
    expect(runs()).toBe(2);
    await audit.close();
    const ends = readLines(path).filter(({ type, method }) => type === "request-end" && method === "tools/call");
    expect(ends.map(({ outcome, refusedAt }) => refusedAt ?? outcome)).toEqual(["record", "record", "ok"]);
    expect(await call("pay", { order: 4 })).toMatchObject(refused);
  });

  it("refuses calls when the queue is full", async () => {
    const stream = new HeldStream();
    const { call, audit, runs } = createAuditedApp({ stream, mode: "required", maxQueueBytes: 65_536 });
    audit.record(refusal(0));
    await new Promise((resolve) => setTimeout(resolve, 20));
    for (let index = 0; index < 1000; index += 1) audit.record(refusal(index));
    const refused = { code: -32603, message: expect.stringContaining("cannot be recorded") };
    expect(await call("pay", { order: 1 })).toMatchObject(refused);
    expect(runs()).toBe(0);
    // A request without a record of its start still runs if there is any room, and fills it with the record of its end.
    expect(await call("look", { at: "x" })).toMatchObject({ structuredContent: { at: "x" } });
    expect(await call("look", { at: "x" })).toMatchObject(refused);
    stream.open();
    await audit.flush();
    expect(await call("pay", { order: 2 })).toMatchObject({ structuredContent: { value: "paid 2" } });
  });

  it("keeps the end of a request that ran when the queue is full", async () => {
    const stream = new HeldStream();
    const audit = auditLog({ stream, mode: "required", maxQueueBytes: 65_536 });
    for (let index = 0; index < 1000; index += 1) audit.record(refusal(index));
    const work = { at: 0, id: "a-1", rpcId: 1, method: "tools/call", transport: "http", view: "default" } as const;
    const end = { ...work, type: "request-end", caller: { id: "ada", isAnonymous: false }, ms: 1.5 } as const;
    audit.record({ ...end, outcome: "ok" });
    audit.record({ ...end, outcome: "refused", refusedAt: "record" });
    stream.open();
    await audit.close();
    const ends = stream.lines.filter(({ type }) => type === "request-end");
    expect(ends).toMatchObject([{ outcome: "ok", caller: { id: "ada" }, ms: 1.5 }]);
  });
});
