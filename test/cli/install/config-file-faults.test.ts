import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import { changeConfigFile } from "../../../src/cli/install/config-file.ts";

// A file system without room lets a file be made, and no text be written to it.
vi.mock("node:fs/promises", async (original) => {
  const real = await original<typeof import("node:fs/promises")>();
  const open: typeof real.open = async (...args) => {
    const handle = await real.open(...args);
    handle.sync = () => Promise.reject(new Error("ENOSPC: no space left on device"));
    return handle;
  };
  return { ...real, open };
});

it("a configuration file leaves no temporary file when it cannot be written", async () => {
  const folder = await mkdtemp(join(tmpdir(), "surface-mcp-file-"));
  await expect(changeConfigFile(join(folder, "a.json"), () => "{}")).rejects.toThrow("ENOSPC");
  expect(await readdir(folder)).toEqual([]);
  await rm(folder, { recursive: true });
});
