import { spawn } from "node:child_process";
import { tools } from "../conformance/tools.ts";

/** What the Inspector said of one request: how it ended, and its JSON, where it wrote one. */
export interface Inspected {
  readonly code: number | null;
  readonly result: unknown;
  readonly stderr: string;
}

/** Where it asks, and as a client of which era. `auto`: whatever the server says. */
export interface InspectorTarget {
  readonly url: string;
  readonly era: "legacy" | "auto" | "modern";
}

/** How long one request may take, in milliseconds: a bound on a hang. */
const requestMs = 60_000;

function resultOf(stdout: string): unknown {
  try {
    const answer: unknown = JSON.parse(stdout);
    return Reflect.get(Object(answer), "result");
  } catch {
    return undefined;
  }
}

/** Has the Inspector's CLI send one request over HTTP, in a process of its own. */
export function inspect({ url, era }: InspectorTarget, args: readonly string[]): Promise<Inspected> {
  const target = ["--cli", url, "--transport", "http", "--protocol-era", era, "--format", "json"];
  return new Promise((resolve, reject) => {
    const child = spawn(tools.node, [tools.inspector, ...target, "--method", ...args], {
      stdio: ["ignore", "pipe", "pipe"],
      timeout: requestMs,
      // Otherwise it looks for a keychain, and says that there is none.
      env: { ...process.env, MCP_INSPECTOR_SECRET_STORE: "memory" },
    });
    let stdout = "";
    let stderr = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => void (stdout += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => void (stderr += text));
    child.on("error", reject).on("close", (code) => resolve({ code, result: resultOf(stdout), stderr }));
  });
}
