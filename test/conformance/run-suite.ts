import { spawn } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import * as z from "zod";
import { type Expectation, readExpectations, type RunName, toBaseline } from "./expectations.ts";
import type { Check } from "./judge.ts";
import { tools } from "./tools.ts";

/** What a suite is asked for: which program, and what of it. */
export interface Suite {
  readonly name: RunName;
  readonly program: string;
  /** What it runs, each in a process of its own. `isScored`: its own verdict counts, too. */
  readonly parts: readonly { readonly args: readonly string[]; readonly isScored: boolean }[];
}

/** Everything that is run, in this order. */
export const suites: readonly Suite[] = [
  {
    name: "0.1.16",
    program: tools.conformance,
    parts: [
      { args: ["--suite", "active"], isScored: true },
      { args: ["--suite", "pending"], isScored: false },
    ],
  },
  {
    name: "2025-11-25",
    program: tools.conformanceAlpha,
    parts: [{ args: ["--requirements", "2025-11-25"], isScored: true }],
  },
  {
    name: "2026-07-28",
    program: tools.conformanceAlpha,
    parts: [{ args: ["--requirements", "2026-07-28"], isScored: true }],
  },
];

/** What a suite has found. */
export interface SuiteRun {
  readonly name: RunName;
  readonly expectations: readonly Expectation[];
  readonly found: ReadonlyMap<string, readonly Check[]>;
  /** What it printed, where it did not end as it should. */
  readonly trouble: string | undefined;
}

const checksFile = z.array(
  z.object({
    id: z.string(),
    status: z.enum(["SUCCESS", "FAILURE", "WARNING", "SKIPPED", "INFO"]),
    errorMessage: z.string().optional(),
  }),
);

const scratch = fileURLToPath(new URL("../../.scratch/conformance", import.meta.url));

/** How long one may take, in milliseconds: a bound on a hang. */
const suiteMs = 180_000;

interface Ended {
  readonly code: number | null;
  readonly output: string;
}

function run(program: string, args: readonly string[]): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(tools.node, [program, ...args], { stdio: ["ignore", "pipe", "pipe"], timeout: suiteMs });
    let output = "";
    const keep = (text: string): void => void (output += text);
    child.stdout.setEncoding("utf8").on("data", keep);
    child.stderr.setEncoding("utf8").on("data", keep);
    child.on("error", reject).on("close", (code) => resolve({ code, output }));
  });
}

/** What it wrote: a folder a scenario, named after it and the time. */
function readFound(folder: string): ReadonlyMap<string, readonly Check[]> {
  const found = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return new Map(
    found.map(({ name }) => [
      name.replace(/^server-/, "").replace(/-\d{4}-\d{2}-\d{2}T[\d-]+Z$/, ""),
      checksFile.parse(JSON.parse(readFileSync(join(folder, name, "checks.json"), "utf8"))),
    ]),
  );
}

/** Runs one suite against a server, with what is expected to fail of it. */
export async function runSuite({ name, program, parts }: Suite, url: string): Promise<SuiteRun> {
  const folder = join(scratch, name);
  const baseline = join(scratch, `${name}.yml`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const expectations = readExpectations(name);
  const troubles: string[] = [];
  for (const { args, isScored } of parts) {
    // What is left to say of this part: none of it was run by an earlier one.
    writeFileSync(baseline, toBaseline(expectations));
    const command = ["server", "--url", url, ...args, "-o", folder, "--expected-failures", baseline];
    const { code, output } = await run(program, command);
    if (isScored && code !== 0) troubles.push(output);
  }
  const found = readFound(folder);
  const trouble = troubles.length > 0 || found.size === 0 ? troubles.join("\n") : undefined;
  return { name, expectations, found, trouble };
}
