import { readdir, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { verifyChain, type ChainFinding, type ChainReport } from "../audit/verify-chain.ts";
import { escapeInvisible } from "../schema/visible-text.ts";
import { refused, usage } from "./cli-errors.ts";
import type { CliEnvironment } from "./terminal.ts";

/** Returns the number of a rotated file: the higher, the older. The current file has 0. */
function ageOf(path: string): number {
  return Number(/\.(\d+)$/.exec(path)?.[1] ?? 0);
}

/** Returns a file and those that were rotated from it. */
async function withRotated(path: string): Promise<string[]> {
  const stats = await stat(path);
  if (!stats.isFile()) throw refused(`Cannot verify "${path}": it is not a file`);
  const prefix = `${basename(path)}.`;
  const names = await readdir(dirname(path));
  const rotated = names.filter((name) => name.startsWith(prefix) && /^\d+$/.test(name.slice(prefix.length)));
  return [path, ...rotated.map((name) => join(dirname(path), name))];
}

function describe({ file, line, text }: ChainFinding): string {
  return escapeInvisible(`${file}:${line}: ${text}`);
}

function render({ records, first, last, notes, broken }: ChainReport, files: number): string {
  const range = last === undefined ? "" : `, ${first} to ${last.seq}`;
  const lines = notes.map((note) => `note: ${describe(note)}`);
  if (broken !== undefined) return [...lines, `broken: ${describe(broken)}`].join("\n");
  lines.push(`intact: ${records} records${range}, in ${files} ${files === 1 ? "file" : "files"}`);
  if (last !== undefined) lines.push(`last: ${last.hash}`);
  return lines.join("\n");
}

/**
 * Checks the hash chain of an audit log over its rotated files, and writes where it breaks.
 *
 * @returns 1 if it breaks, or lacks the hash of `--has`.
 * @throws Refusal `USAGE` or `UNREADABLE`, and the errors of reading a file.
 */
export async function audit(args: readonly string[], setting: CliEnvironment): Promise<0 | 1> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { has: { type: "string" } },
  });
  const [action, ...paths] = positionals;
  if (action !== "verify" || paths.length === 0) throw usage('Cannot audit: write "audit verify FILE"');
  const found = await Promise.all(paths.map((path) => withRotated(resolve(setting.cwd, path))));
  const files = [...new Set(found.flat())].toSorted((first, second) => ageOf(second) - ageOf(first));
  const report = await verifyChain(files, values.has);
  setting.write(`${render(report, files.length)}\n`);
  if (report.broken !== undefined) return 1;
  if (values.has === undefined || report.hasHash) return 0;
  setting.write("broken: no record has the hash of --has: records were removed, or all were replaced\n");
  return 1;
}
