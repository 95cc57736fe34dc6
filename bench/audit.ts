/**
 * Measures how many records a second an audit log takes, with the hash chain, into a file of the temporary folder.
 *
 * Run it by `npx tsx bench/audit.ts`.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { auditLog } from "../src/audit/index.ts";
import { verifyChain } from "../src/audit/verify-chain.ts";
import type { RequestEnd } from "../src/index.ts";

const records = 300_000;
/** Fewer than the queue holds. */
const perFlush = 5000;

const end: RequestEnd = {
  type: "request-end",
  at: Date.now(),
  id: "0a1b2c3d-17",
  rpcId: 17,
  method: "tools/call",
  transport: "http",
  protocol: "2026-07-28",
  caller: { id: "ada", issuer: "https://issuer.example", clientId: "client", isAnonymous: false },
  client: { name: "bench", version: "1.0.0" },
  view: "default",
  operation: { kind: "tool", id: "orders.pay", name: "orders_pay", mutates: true },
  trace: { traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01" },
  bytesIn: 312,
  bytesOut: 98,
  ms: 1.234,
  outcome: "ok",
};

/** Records into a file, and writes a line with the result. */
async function measure(path: string): Promise<void> {
  const audit = auditLog({ path, maxBytes: 1024 ** 3 });
  const start = performance.now();
  const cpu = process.cpuUsage();
  for (let count = 0; count < records; count += 1) {
    audit.record(end);
    if (count % perFlush === 0) await audit.flush();
  }
  await audit.flush();
  const ms = performance.now() - start;
  const { user, system } = process.cpuUsage(cpu);
  await audit.close();
  const report = await verifyChain([path]);
  const perSecond = Math.round((records / ms) * 1000).toLocaleString("en");
  const each = ((user + system) / records).toFixed(1);
  const state = report.broken === undefined && report.notes.length === 0 ? "intact" : "broken";
  console.log(`${perSecond} records a second, ${each} µs CPU time each; ${report.records} lines, ${state}`);
}

const folder = mkdtempSync(join(tmpdir(), "surface-mcp-audit-"));
try {
  for (let round = 1; round <= 5; round += 1) await measure(join(folder, `${round}.jsonl`));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
