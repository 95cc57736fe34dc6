import { randomUUID } from "node:crypto";
import { readFile, realpath, rename, rm, stat, writeFile } from "node:fs/promises";
import { isAbsolute, relative, resolve, sep } from "node:path";

import { suggestionIn } from "./compiler-errors.ts";
import type { CompilerError } from "./compiler-errors.ts";
import { CiError } from "./errors.ts";

/** What {@link repair} has changed. */
export interface Repair {
  /** Relative to the folder that was repaired. */
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** The name that stood there, and the one that stands there now. */
  readonly from: string;
  readonly to: string;
  /** The whole line, before and after. */
  readonly before: string;
  readonly after: string;
}

/** The "Did you mean" family: names of a property (2551, 2561), of a variable or type (2552), of an export (2724). */
const REPAIRABLE = new Set(["TS2551", "TS2552", "TS2561", "TS2724"]);
const IDENTIFIER = /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u;
const IDENTIFIER_AT = /[\p{ID_Start}$_][\p{ID_Continue}$]*/uy;
const MAX_BYTES = 1024 * 1024;

/**
 * Applies the one repair that a compiler error proposes itself: a misspelt name at the error's position becomes the
 * one it asks for ("Did you mean 'x'?"). Writes a new file and renames it over the old one.
 *
 * @param folder - the only folder in which a file may be changed; links that lead out of it are not followed.
 * @throws CiError `OUTSIDE_SCRATCH` when the file is not inside, `NOT_REPAIRABLE` when the error proposes nothing, the
 *   file cannot be read, or what stands at the position is not the name the message complains about.
 */
export async function repair(folder: string, error: Omit<CompilerError, "suggestion">): Promise<Repair> {
  const attempt = `repair ${error.code} at ${error.file}(${error.line},${error.column})`;
  const to = proposalOf(error, attempt);
  const path = await fileInside(folder, error.file, attempt);
  const lines = (await readFile(path, "utf8")).split("\n");
  const before = lines[error.line - 1] ?? "";
  const start = error.column - 1;
  const from = identifierAt(before, start);
  if (from === undefined || !complaintOf(error.message).includes(`'${from}'`)) {
    const found = from === undefined ? "no name" : `"${from}"`;
    throw new CiError("NOT_REPAIRABLE", `${attempt}: ${found} stands there, and the message must be about it`);
  }
  const after = before.slice(0, start) + to + before.slice(start + from.length);
  lines[error.line - 1] = after;
  await replaceFile(path, lines.join("\n"));
  const file = relative(await realpath(folder), path);
  return { file, line: error.line, column: error.column, from, to, before: chomp(before), after: chomp(after) };
}

function proposalOf(error: Omit<CompilerError, "suggestion">, attempt: string): string {
  const proposal = suggestionIn(error.message);
  if (REPAIRABLE.has(error.code) && proposal !== undefined && IDENTIFIER.test(proposal)) return proposal;
  const known = [...REPAIRABLE].join(", ");
  throw new CiError(
    "NOT_REPAIRABLE",
    `${attempt}: the message proposes no name, and must be one of ${known} that ends in "Did you mean 'x'?"`,
  );
}

/** What a message says before it asks its question: a name that stands in the question only is right already. */
function complaintOf(message: string): string {
  return message.slice(0, message.lastIndexOf("Did you mean"));
}

/** Resolves a file as the compiler named it; what comes back is a real path inside the real folder. */
async function fileInside(folder: string, file: string, attempt: string): Promise<string> {
  const outside = new CiError("OUTSIDE_SCRATCH", `${attempt}: the file is outside the folder that may be repaired`);
  const named = resolve(folder, file);
  const root = await realpath(folder);
  if (!isInside(resolve(folder), named) && !isInside(root, named)) throw outside;
  const path = await realpath(named).catch(() => undefined);
  if (path === undefined) throw new CiError("NOT_REPAIRABLE", `${attempt}: there is no such file`);
  if (!isInside(root, path)) throw outside;
  const about = await stat(path);
  if (about.isFile() && about.size <= MAX_BYTES) return path;
  throw new CiError("NOT_REPAIRABLE", `${attempt}: it must be a file of at most ${MAX_BYTES} bytes`);
}

function isInside(root: string, path: string): boolean {
  const way = relative(root, path);
  return way !== "" && way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** The whole name that begins at an index; `undefined` inside of a name and where none is. */
function identifierAt(line: string, start: number): string | undefined {
  if (!Number.isInteger(start) || start < 0 || /[\p{ID_Continue}$]$/u.test(line.slice(0, start))) return undefined;
  IDENTIFIER_AT.lastIndex = start;
  return IDENTIFIER_AT.exec(line)?.[0];
}

/** By rename, so that a reader never sees half a file and a hard link to it elsewhere keeps its content. */
async function replaceFile(path: string, text: string): Promise<void> {
  const next = `${path}.${randomUUID()}`;
  try {
    await writeFile(next, text, { flag: "wx", mode: 0o600 });
    await rename(next, path);
  } finally {
    await rm(next, { force: true });
  }
}

function chomp(line: string): string {
  return line.replace(/\r$/, "");
}
