import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Writable } from "node:stream";
import { z } from "zod";
import { auditLog, type AuditLogOptions } from "../../src/audit/index.ts";
import { defineSurface, mcp, mcpTool, Refusal } from "../../src/index.ts";
import { procedure } from "../../src/surface/define-members.ts";
import { httpHandler } from "../../src/http/http.ts";
import type { JsonObject } from "../../src/schema/json.ts";
import { modernPost } from "../http/support/modern-post.ts";
import { atEndOfTest } from "../setup/end-of-test.ts";

/** A line of an audit log. */
export type AuditLine = Readonly<Record<string, unknown>>;

/** Returns the id of the operation of a line. */
export function operationOf({ operation }: AuditLine): unknown {
  return Reflect.get(Object(operation), "id");
}

/** Returns the path of a log in a fresh folder. */
export function freshPath(): string {
  const folder = mkdtempSync(join(tmpdir(), "surface-mcp-audit-"));
  atEndOfTest(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, "logs", "audit.jsonl");
}

function parseLines(text: string, isLine = (line: string): boolean => line !== ""): AuditLine[] {
  return text
    .split("\n")
    .filter((line) => isLine(line))
    .map((line) => JSON.parse(line));
}

/** Reads the lines of a file that may not exist. @param isLine - leaves out incomplete lines. */
export function readLines(path: string, isLine?: (line: string) => boolean): AuditLine[] {
  return parseLines(existsSync(path) ? readFileSync(path, "utf8") : "", isLine);
}

const shop = defineSurface("shop", {
  pay: mcpTool(procedure({ input: z.object({ order: z.int() }), output: z.string() })),
});

const loginInput = z.object({
  user: z.string(),
  password: z.string().optional(),
  pin: z.string().meta({ writeOnly: true }).optional(),
  list: z.array(z.object({ apiKey: z.string() })).optional(),
});

/** Creates an app with an audit log, and a way to call its tools. */
export function createAuditedApp(options: AuditLogOptions) {
  const faults: unknown[] = [];
  let runs = 0;
  const audit = auditLog({ onFault: ({ cause }) => faults.push(cause), ...options });
  const app = mcp(shop, { observe: audit, onFault: ({ cause }) => faults.push(cause) })
    .implement({
      pay: ({ order }) => {
        runs += 1;
        return `paid ${order}`;
      },
    })
    .tools({
      look: { mutates: false, input: z.object({ at: z.string() }), handler: ({ at }) => ({ at }) },
      login: { input: loginInput, handler: ({ user }) => ({ user }) },
      refuse: {
        handler: () => {
          throw new Refusal("NOT_NOW", "sentinel-message", { detail: "sentinel-detail" });
        },
      },
      fault: {
        handler: () => {
          throw new Error("sentinel-cause");
        },
      },
    });
  const handler = httpHandler(app, { allowAnonymous: true, rateLimit: false });
  /** Calls a tool over HTTP. Returns the result or the error. */
  const call = async (name: string, args: JsonObject): Promise<AuditLine> => {
    const request = new Request("http://localhost/mcp", modernPost("tools/call", { name, arguments: args }));
    const { result, error } = Object(await (await handler.fetch(request)).json());
    return result ?? error;
  };
  atEndOfTest(async () => {
    if (options.stream instanceof HeldStream) options.stream.open();
    await handler.close();
    await audit.close().catch(() => {});
  });
  return { call, audit, faults, runs: () => runs };
}

/** A stream that passes nothing on until it is opened. */
export class HeldStream extends Writable {
  text = "";
  #isOpen = false;
  #waiting: (() => void)[] = [];

  constructor() {
    super({ highWaterMark: 1 });
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString();
    if (this.#isOpen) done();
    else this.#waiting.push(done);
  }

  open(): void {
    this.#isOpen = true;
    for (const done of this.#waiting.splice(0)) done();
  }

  get lines(): AuditLine[] {
    return parseLines(this.text);
  }
}
