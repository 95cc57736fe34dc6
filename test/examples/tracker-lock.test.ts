import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { assertExposure } from "surface-mcp/testing";
import { describe, expect, it } from "vitest";
import { app } from "../../examples/tracker/app.ts";
import { root } from "../docs/markdown-snippets.ts";

describe("the lockfile of the tracker", () => {
  it("is what agents can reach in the tracker", () => {
    expect(() => assertExposure(app, join(root, "examples/tracker/exposure.lock.json"))).not.toThrow();
  });

  it(
    "makes a comment for a pull request, as the guide shows it, when the tracker is changed",
    { timeout: 60_000 },
    () => {
      const comment = execFileSync(process.execPath, [join(root, "scripts/review-demo.mjs")], { encoding: "utf8" });
      expect(readFileSync(join(root, "docs/guide/review.md"), "utf8")).toContain(`\`\`\`\`text\n${comment}\`\`\`\`\n`);
    },
  );
});
