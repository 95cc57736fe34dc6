import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { rigOf } from "./ci-support.ts";

let dir = "";
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "ci-configure-"));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

describe("engine.configure()", () => {
  it("starts what waits for a slot when a run in progress may run more at once", async () => {
    const path = (name: string): string => JSON.stringify(join(dir, name));
    const meet = (own: string, other: string): string =>
      `fs.writeFileSync(${path(own)}, ""); setInterval(() => fs.existsSync(${path(other)}) && process.exit(0), 5);`;
    const rig = rigOf({ a: { script: meet("a", "b") }, b: { script: meet("b", "a") } }, { parallel: 1 });
    const settled = rig.settled();
    rig.engine.start();
    expect(rig.statuses()).toEqual(["a:running", "b:waiting"]);
    expect(rig.engine.configure({ parallel: 2 })).toEqual({ parallel: 2 });
    expect(rig.statuses()).toEqual(["a:running", "b:running"]);
    expect((await settled).verdict).toBe("green");
  });

  it("refuses with CLOSED when the engine is closed", async () => {
    const rig = rigOf({ a: {} });
    await rig.engine.close();
    expect(() => rig.engine.configure({ parallel: 2 })).toThrow("configure runs: the engine is closed");
  });
});
