import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";

import * as z from "zod";

import { CiError } from "./errors.ts";
import { findCycle } from "./find-cycle.ts";
import { NODE_ID } from "./node-id.ts";
import type { Pipeline, PipelineNode } from "./pipeline.ts";
import { fillPlaceholders } from "./placeholders.ts";

/** Seconds a node may take when the file does not say. */
const DEFAULT_TIMEOUT_SECONDS = 300;
/** A day. Also keeps the timer far below the 2^31 ms at which Node fires at once. */
const MAX_TIMEOUT_SECONDS = 86_400;
const MAX_ISSUES = 5;

const Text = z.string().refine((text) => !text.includes("\0"), "must not contain a NUL character");

const NodeFile = z.strictObject({
  command: z.tuple([Text.min(1)], Text),
  needs: z.array(z.string()).default([]),
  cwd: Text.optional(),
  env: z.record(Text.regex(/^[^=]+$/), Text).default({}),
  timeoutSeconds: z.number().positive().max(MAX_TIMEOUT_SECONDS).default(DEFAULT_TIMEOUT_SECONDS),
});

const ID_RULE = "an id must be 1 to 64 of a-z, 0-9 and -";

/** zod leaves this key out of a record without a word, and a pipeline that lost a node could be green by mistake. */
const NoProto = z
  .unknown()
  .refine((value) => !(value instanceof Object && Object.hasOwn(value, "__proto__")), `${ID_RULE}, unlike "__proto__"`);

const PipelineFile = z.strictObject({
  name: z.string().min(1),
  cwd: Text.optional(),
  nodes: NoProto.pipe(z.record(z.string().regex(NODE_ID, ID_RULE), NodeFile)),
});

/**
 * Reads a pipeline from a JSON file.
 *
 * A folder is resolved step by step: the file's own folder, then the file's top-level `cwd` (the root of every node;
 * a pipeline that lives below the project it checks says `"cwd": "../.."`), then a node's own `cwd`. `{root}` in a
 * command, `cwd` or variable stands for that root, so that a node that runs elsewhere can still name a local program.
 *
 * @throws CiError `INVALID_PIPELINE` when the file cannot be read, is not JSON, or does not describe a pipeline.
 */
export async function readPipelineFile(path: string): Promise<Pipeline> {
  const attempt = `read pipeline "${path}"`;
  let value: unknown;
  try {
    value = JSON.parse(await readFile(path, "utf8"));
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new CiError("INVALID_PIPELINE", `${attempt}: ${reason}`, { cause });
  }
  return parsePipeline(value, { folder: dirname(resolve(path)), attempt });
}

/** Where a parsed pipeline comes from. */
export interface PipelineOrigin {
  /** Absolute folder that relative paths are resolved against. */
  readonly folder: string;
  /** Opens every error message. Defaults to `parse pipeline`. */
  readonly attempt?: string;
}

/**
 * Checks a parsed JSON value and makes a {@link Pipeline} of it; the rules are those of {@link readPipelineFile}.
 *
 * @throws CiError `INVALID_PIPELINE`, naming the first five things that are wrong, an unknown need, or a cycle.
 */
export function parsePipeline(value: unknown, origin: PipelineOrigin): Pipeline {
  const fail = (reason: string): CiError =>
    new CiError("INVALID_PIPELINE", `${origin.attempt ?? "parse pipeline"}: ${reason}`);
  const parsed = PipelineFile.safeParse(value);
  if (!parsed.success) throw fail(parsed.error.issues.slice(0, MAX_ISSUES).map(toLine).join("; "));
  const file = parsed.data;
  const root = resolve(origin.folder, file.cwd ?? ".");
  const nodes = Object.entries(file.nodes).map(([id, node]) => toNode(id, node, root));
  const fault = faultIn(nodes);
  if (fault !== undefined) throw fail(fault);
  return fillPlaceholders({ name: file.name, nodes }, { root });
}

function toLine(issue: z.core.$ZodIssue): string {
  const where = issue.path.map(String).join(".");
  const reason = issue.code === "invalid_key" ? (issue.issues[0]?.message ?? issue.message) : issue.message;
  return where === "" ? reason : `"${where}": ${reason}`;
}

function toNode(id: string, node: z.output<typeof NodeFile>, root: string): PipelineNode {
  return {
    id,
    command: node.command,
    needs: [...new Set(node.needs)],
    cwd: node.cwd?.startsWith("{") === true ? node.cwd : resolve(root, node.cwd ?? "."),
    env: node.env,
    timeoutMs: Math.ceil(node.timeoutSeconds * 1000),
  };
}

function faultIn(nodes: readonly PipelineNode[]): string | undefined {
  if (nodes.length === 0) return `"nodes" is empty, and a pipeline must have at least one node`;
  const ids = new Set(nodes.map((node) => node.id));
  for (const node of nodes) {
    const unknown = node.needs.find((need) => !ids.has(need));
    if (unknown !== undefined) return `node "${node.id}" needs "${unknown}", and there is no node of that name`;
  }
  const cycle = findCycle(nodes);
  return cycle && `nodes must not need each other in a circle, and these do: ${cycle.join(" -> ")}`;
}
