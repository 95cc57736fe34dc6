import { spawnSync, type SpawnSyncReturns } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { hasRedis, whyNoRedis } from "../cluster/redis-server.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

function runDemo(env: NodeJS.ProcessEnv = process.env): SpawnSyncReturns<string> {
  const args = ["--import", import.meta.resolve("tsx"), "examples/cluster/demo.ts"];
  return spawnSync(process.execPath, args, { cwd: root, encoding: "utf8", timeout: 150_000, env });
}

describe("npm run demo:cluster", () => {
  it.skipIf(!hasRedis)(`kills a replica under load, and ends${whyNoRedis}`, { timeout: 160_000 }, () => {
    const { stdout, stderr, status } = runDemo();
    expect(stderr).toBe("");
    expect(status).toBe(0);
    expect(stdout).toContain("and is told OUTCOME_UNKNOWN.\n");
    expect(stdout).toMatch(/The ledger has \d+ entries, and none twice\.\n/);
    expect(stdout).toMatch(/Both are notified by the replicas that are left, and read the new number\.\n/);
    expect(stdout).toMatch(/^\d+\.\d s\. Everything has ended\.\n$/m);
  });

  it("says how to get redis-server where it is missing", () => {
    const path = mkdtempSync(join(tmpdir(), "no-redis-"));
    symlinkSync(process.execPath, join(path, "node"));
    const { stdout, stderr, status } = runDemo({ ...process.env, PATH: path });
    rmSync(path, { recursive: true });
    expect(stdout).toBe("");
    expect(stderr).toMatch(/^Cannot start Redis: redis-server is not installed; .*apt-get install redis-server\n$/);
    expect(status).toBe(1);
  });
});
