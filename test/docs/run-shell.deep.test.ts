import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { root } from "./markdown-snippets.ts";

/** A block that a reader may paste into a shell, and what that prints. */
interface ShellBlock {
  readonly code: string;
  /** Empty where nothing is said of it. */
  readonly prints: string;
}

const fence = /^```sh run\n(?<code>[\s\S]*?)^```$(?:\n\n^```text\n(?<prints>[\s\S]*?)^```$)?/gm;
const between = "-- the next block --";
/** Where the guide says that it is served. */
const address = "http://127.0.0.1:4000";
/** Streams that go on until somebody ends them are read for some seconds; nothing else takes longer than a machine that is busy. */
const bounded = `curl() {
  case "$*" in
    *subscriptions/listen* | *"accept: text/event-stream"*) command curl --max-time 6 "$@" ;;
    *) command curl --max-time 60 "$@" ;;
  esac
}`;

function blocksOf(file: string): readonly ShellBlock[] {
  const found = readFileSync(join(root, file), "utf8").matchAll(fence);
  return [...found].map(({ groups }) => ({ code: groups?.["code"] ?? "", prints: groups?.["prints"] ?? "" }));
}

/** What is left out stands as "…". A line end is a line end, and those in front of what was printed are as good as none. */
function toPattern(prints: string): RegExp {
  const parts = prints.trim().split("…");
  const escaped = parts.map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&").replaceAll("\n", "\\n*"));
  return new RegExp(`^${escaped.join("[^]*")}$`);
}

const main = fileURLToPath(new URL("../../examples/ci/main.ts", import.meta.url));
const pipeline = "examples/ci/pipelines/mend.json";
let temporary = "";
let stop = async (): Promise<void> => {};
let url = "";

beforeAll(async () => {
  temporary = await mkdtemp(join(tmpdir(), "shell-blocks-"));
  const args = ["--http", "--hold", "--port", "0", "--pipeline", pipeline];
  const child = spawn(process.execPath, ["--import", import.meta.resolve("tsx"), main, ...args], {
    env: { ...process.env, TMPDIR: temporary, NO_COLOR: "1" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const gone = once(child, "exit");
  stop = async () => {
    child.kill("SIGTERM");
    await gone;
  };
  let said = "";
  for await (const chunk of child.stdout.setEncoding("utf8").iterator({ destroyOnReturn: false })) {
    said += String(chunk);
    url = /serves (\S+) until/.exec(said)?.[1] ?? "";
    if (url !== "") break;
  }
  child.stdout.resume();
}, 60_000);

afterAll(async () => {
  await stop();
  await rm(temporary, { recursive: true, force: true, maxRetries: 5 });
});

/** Runs them one after the other in one shell, as a reader does. */
async function runBlocks(blocks: readonly ShellBlock[]): Promise<readonly string[]> {
  const script = [
    bounded,
    ...blocks.map(({ code }) => `${code.replaceAll(address, new URL(url).origin)}\necho "${between}"`),
  ];
  const shell = spawn("bash", ["-c", script.join("\n")], { stdio: ["ignore", "pipe", "inherit"] });
  return (await text(shell.stdout)).split(`${between}\n`).slice(0, -1);
}

describe("the guide to the wire", () => {
  test(
    "prints what it says when its lines are pasted into a shell, against the CI example",
    { timeout: 90_000 },
    async () => {
      const blocks = blocksOf("docs/guide/http-curl.md");
      expect(blocks.filter(({ prints }) => prints !== "").length).toBeGreaterThan(6);
      const printed = await runBlocks(blocks);
      expect(printed).toHaveLength(blocks.length);
      const said = blocks.flatMap(({ prints }, index) =>
        prints === "" ? [] : [{ answer: printed[index]?.trim(), pattern: toPattern(prints) }],
      );
      for (const { answer, pattern } of said) expect(answer).toMatch(pattern);
    },
  );
});
