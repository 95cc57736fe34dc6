import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Fault } from "../../src/surface/fault.ts";
import { Views } from "../../src/views/views.ts";
import { viewRulesFile, type ViewRulesFile } from "../../src/views/view-rules-file.ts";
import { thrownBy } from "../catalog/support.ts";

/** How long a change may take to hold before something hangs, in milliseconds. */
const timeout = 20_000;

function denying(reason: string): string {
  return JSON.stringify([{ verdict: { kind: "deny", reason } }]);
}

describe("rules in a file", () => {
  let folder: string;
  let path: string;
  let faults: Fault[];
  let file: ViewRulesFile;
  let views: Views;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "view-rules-"));
    path = join(folder, "views.json");
    faults = [];
    await writeFile(path, denying("one"));
    open();
  });

  afterEach(async () => {
    views.close();
    file.close();
    await rm(folder, { recursive: true });
  });

  function open(): void {
    file = viewRulesFile(path, { onFault: (fault) => faults.push(fault) });
    views = new Views(file);
  }

  function missing(): string {
    return `SurfaceError: Cannot read view rules: "${path}" does not exist; every view is denied until it is readable`;
  }

  function reason(): string {
    const { verdict } = views.decide({ surface: "default" });
    return verdict.kind === "deny" ? verdict.reason : "shown";
  }

  async function becomes(expected: string): Promise<string> {
    return vi.waitFor(
      () => {
        expect(reason()).toBe(expected);
        return reason();
      },
      { timeout, interval: 20 },
    );
  }

  it("new contents apply, and are announced", async () => {
    let told = 0;
    views.subscribe(() => told++);
    expect(reason()).toBe("one");
    await writeFile(path, denying("two"));
    await becomes("two");
    expect([told > 0, faults]).toEqual([true, []]);
  });

  it("a replacing file applies, again and again", async () => {
    for (const next of ["two", "three"]) {
      await writeFile(`${path}.tmp`, denying(next));
      await rename(`${path}.tmp`, path);
      expect(await becomes(next)).toBe(next);
    }
  });

  it("everybody is denied, and the log hears it once, when the file is gone, and no more when it is there again (B9)", async () => {
    await rm(path);
    await becomes("the view rules cannot be read");
    expect(faults).toHaveLength(1);
    expect(String(faults[0]?.cause)).toBe(missing());
    await writeFile(path, denying("two"));
    await becomes("two");
  });

  it("every caller is denied, and the log names the file, when it is missing at first", async () => {
    views.close();
    file.close();
    await rm(path);
    open();
    expect(reason()).toBe("the view rules cannot be read");
    expect(faults.map(({ cause }) => String(cause))).toEqual([missing()]);
  });

  it("every caller is denied, and the log names the file, when it holds no text", async () => {
    await writeFile(path, Buffer.from([0xff, 0xfe, 0x00]));
    await becomes("the view rules cannot be read");
    expect(String(faults[0]?.cause)).toContain(`Cannot read view rules: "${path}" is not readable as UTF-8`);
  });

  it("every caller is denied, and the log has the reason, for half a file and for invalid rules (B9)", async () => {
    await writeFile(path, denying("two").slice(0, 20));
    await becomes("the view rules cannot be read");
    await writeFile(path, `{"hub":{"face":"three"}}`);
    await vi.waitFor(() => expect(faults).toHaveLength(2), { timeout });
    expect(reason()).toBe("the view rules cannot be read");
    expect(String(faults[1]?.cause)).toContain(`view "hub": "face" must be`);
    await writeFile(path, denying("two"));
    await becomes("two");
  });

  it("the rules are followed when the folder itself is replaced", async () => {
    await rename(folder, `${folder}-old`);
    await becomes("the view rules cannot be read");
    await mkdir(folder);
    await writeFile(path, denying("two"));
    expect(await becomes("two")).toBe("two");
    await rm(`${folder}-old`, { recursive: true });
  });

  it("nothing is read any more when the file is closed, twice", async () => {
    file.close();
    file.close();
    await writeFile(path, denying("two"));
    // Longer than it takes to be noticed.
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(reason()).toBe("one");
  });

  it("no listener is called after one closes the file", async () => {
    const heard: string[] = [];
    file.subscribe(() => {
      heard.push("first");
      file.close();
    });
    file.subscribe(() => void heard.push("second"));
    await writeFile(path, denying("two"));
    await vi.waitFor(() => expect(heard).not.toEqual([]), { timeout, interval: 20 });
    expect(heard).toEqual(["first"]);
  });

  it("viewRulesFile() names packet, rule and field when the file does not fit at first (B5)", async () => {
    await writeFile(path, `[{"id":"a","verdict":{"kind":"allow"}}]`);
    expect(thrownBy(() => viewRulesFile(path))).toMatchObject({
      code: "INVALID_OPTION",
      message: `Cannot read view rules: rule "a" of packet "views": "verdict.kind" must be "tool_surface" or "deny", and is "allow"`,
    });
    await writeFile(path, "{");
    expect(thrownBy(() => viewRulesFile(path))).toMatchObject({ code: "INVALID_OPTION" });
  });

  it.each(["nowhere.json", "."])("everybody is denied when %j cannot be read at first (B9)", (name) => {
    const none = viewRulesFile(join(folder, name), { onFault: (fault) => faults.push(fault) });
    const noViews = new Views(none);
    expect(noViews.decide({ surface: "default" }).verdict).toEqual({
      kind: "deny",
      reason: "the view rules cannot be read",
    });
    expect(faults).toHaveLength(1);
    noViews.close();
    none.close();
  });
});
