import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";

it("httpHandler() serves web requests of both eras, with streams, and lets its process end, when timers are numbers", async () => {
  const script = fileURLToPath(new URL("../fixtures/number-timers.ts", import.meta.url));
  const run = promisify(execFile)(process.execPath, ["--import", "tsx", script], { timeout: 30_000 });
  const { stdout, stderr } = await run;
  expect(stderr).toBe("");
  const answers = stdout.trim().split("\n");
  expect(answers).toHaveLength(6);
  for (const answer of answers) {
    expect(answer).toMatch(/^\{"status":200,/);
    expect(answer).not.toContain("error");
  }
  expect(answers[2]).toContain("notifications/progress");
  expect(answers[3]).toContain(": keep-alive");
});
