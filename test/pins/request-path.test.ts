import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import { root } from "../architecture/source.ts";

interface RequestPath {
  readonly files: readonly string[];
  readonly promises: number;
}

interface Weight {
  readonly files: number;
  readonly promises: number;
}

/** Source files that one warm request, or one change, visits, and promises that it creates. Lower them when you can. */
const pinned: Readonly<Record<string, Weight>> = {
  "stdio, sessions: call of a procedure": { files: 27, promises: 0 },
  "stdio, stateless: call of a procedure": { files: 29, promises: 0 },
  "stdio, stateless: call of a tool": { files: 29, promises: 0 },
  "stdio, sessions: read": { files: 30, promises: 0 },
  "stdio, stateless: read": { files: 32, promises: 0 },
  "HTTP, sessions: call of a procedure": { files: 41, promises: 0 },
  "HTTP, stateless: call of a procedure": { files: 38, promises: 0 },
  "stdio, sessions: notification of a change": { files: 15, promises: 0 },
  "stdio, stateless: notification of a change": { files: 15, promises: 0 },
  "stdio, sessions: notification of a change over a Unix socket": { files: 28, promises: 0 },
};

let paths: Readonly<Record<string, RequestPath>> = {};

/** Says how a weight differs from its pin; empty if it does not. */
function toComplaint(what: string, real: number, pin: number): string {
  if (real === pin) return "";
  return real > pin
    ? `${what}: ${real}, more than the pinned ${pin}; make the path shorter, or say in the commit what the new step gives`
    : `${what}: ${real}, fewer than the pinned ${pin}; write the lower number into the pin`;
}

describe("a warm request", () => {
  beforeAll(async () => {
    const script = join(root, "test", "pins", "fixtures", "request-path.mjs");
    const { stdout } = await promisify(execFile)(process.execPath, [script], { maxBuffer: 2 ** 22 });
    paths = JSON.parse(stdout);
  });

  it("is pinned, whatever its kind", () => {
    expect(Object.keys(paths)).toEqual(Object.keys(pinned));
  });

  it("visits the files of a request that AGENTS.md names", () => {
    const text = readFileSync(join(root, "AGENTS.md"), "utf8");
    const [walk = ""] = /## One request\n[^]*?\n## One notification/.exec(text) ?? [];
    const named = [...walk.matchAll(/`((?:[\w-]+\/)+[\w-]+\.ts)`/g)].map(([, file = ""]) => file);
    const visited = new Set(Object.values(paths).flatMap(({ files }) => files));
    expect(named.length).toBeGreaterThan(30);
    expect(named.filter((file) => file !== "test/pins/request-path.test.ts" && !visited.has(file))).toEqual([]);
  });

  it("visits the files of a notification that AGENTS.md names", () => {
    const text = readFileSync(join(root, "AGENTS.md"), "utf8");
    const [walk = ""] = /\n## One notification\n[^]*?\n## /.exec(text) ?? [];
    const named = [...walk.matchAll(/`((?:[\w-]+\/)+[\w-]+\.ts)`/g)].map(([, file = ""]) => file);
    const ways = Object.entries(paths).filter(([kind]) => kind.includes("notification"));
    const visited = new Set(ways.flatMap(([, { files }]) => files));
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter((file) => !visited.has(file))).toEqual([]);
  });

  it.each(Object.entries(pinned))("visits as many files and creates as many promises as pinned: %s", (kind, pin) => {
    const { files, promises } = paths[kind] ?? { files: [], promises: 0 };
    const complaints = [
      toComplaint("files", files.length, pin.files),
      toComplaint("promises", promises, pin.promises),
    ].filter((complaint) => complaint !== "");
    expect(complaints, `${kind} visits:\n${files.join("\n")}`).toEqual([]);
  });
});
