import { spawn, type ChildProcessByStdio } from "node:child_process";
import { once } from "node:events";
import { copyFile, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { vi } from "vitest";
import { root } from "../architecture/source.ts";
import { atEndOfTest } from "../setup/end-of-test.ts";

const program = join(root, "dist", "cli", "main.js");
const fixture = fileURLToPath(new URL("fixtures/dev-app.mjs", import.meta.url));
/** Bounds of waiting for a process. */
export const patience = { timeout: 20_000, interval: 20 };

/** A running `dev`. */
export interface Dev {
  readonly child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly out: () => string;
  readonly err: () => string;
  /** Writes the file that the app imports. */
  write(text: string): Promise<void>;
}

/** Runs `dev` with an app in a folder that can import the package. */
export async function dev(word: string, ...args: readonly string[]): Promise<Dev> {
  const scratch = join(root, ".scratch");
  await mkdir(scratch, { recursive: true });
  const cwd = await mkdtemp(join(scratch, "dev-"));
  await copyFile(fixture, join(cwd, "app.mjs"));
  const write = (text: string): Promise<void> => writeFile(join(cwd, "word.mjs"), text);
  await write(word);
  const child = spawn(process.execPath, [program, "dev", "app.mjs", ...args], { cwd, stdio: ["pipe", "pipe", "pipe"] });
  // A child that ends may leave input unread.
  child.stdin.on("error", () => {});
  const closed = once(child, "close");
  atEndOfTest(async () => {
    child.kill("SIGKILL");
    await closed;
    await rm(cwd, { recursive: true, force: true });
  });
  let [out, err] = ["", ""];
  child.stdout.on("data", (chunk: Buffer) => (out += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (err += chunk.toString()));
  return { child, out: () => out, err: () => err, write };
}

/** Returns the text of the file that the app imports. */
export const exporting = (word: string): string => `export const word = "${word}";\n`;

/** Returns the URL that `dev` prints. */
export async function urlOf({ out }: Dev): Promise<URL> {
  const found = await vi.waitFor(() => {
    const [, url] = /^serving at (\S+)$/m.exec(out()) ?? [];
    if (url === undefined) throw new Error("not yet");
    return url;
  }, patience);
  return new URL(found);
}
