import { posix } from "node:path";
import { lineAt, type Source } from "../source.ts";

interface Exported {
  /** Where the export statement of the declaration starts. */
  readonly start: number;
  readonly source: Source;
}

function sourceAt(sources: readonly Source[], path: string): Source {
  const source = sources.find((one) => one.path === path);
  if (source === undefined) throw new Error(`Looking for "${path}": no such file was read`);
  return source;
}

/** Where `name`, which `source` exports, is declared: re-exports are followed to their end. */
function locate(sources: readonly Source[], source: Source, name: string): Exported {
  for (const { entries, start } of source.module.staticExports) {
    const entry = entries.find((one) => one.exportName.name === name);
    if (entry === undefined) continue;
    const from = entry.moduleRequest?.value;
    // What a package declares is explained where this repository hands it on.
    if (from === undefined || !from.startsWith(".")) return { start, source };
    const path = posix.join(posix.dirname(source.path), from);
    return locate(sources, sourceAt(sources, path), entry.importName.name ?? name);
  }
  throw new Error(`Looking for "${name}" in ${source.path}: it is not exported there`);
}

/** Overloads are several export statements of one name: the first carries the comment for all. */
function isDocumented({ source, start }: Exported): boolean {
  const before = source.comments.findLast((comment) => comment.end <= start);
  if (before === undefined || before.type !== "Block" || !before.value.startsWith("*")) return false;
  return source.text.slice(before.end, start).trim() === "";
}

/** What an entry exports, directly or by a re-export, and no TSDoc comment says what it is. */
export function findUndocumented(sources: readonly Source[], entry: string): string[] {
  const source = sourceAt(sources, entry);
  const names = source.module.staticExports.flatMap(({ entries }) => entries.map((one) => one.exportName.name ?? ""));
  return names
    .map((name) => ({ name, at: locate(sources, source, name) }))
    .filter(({ at }) => !isDocumented(at))
    .map(({ name, at }) => `${at.source.path}:${lineAt(at.source, at.start)} ${name}`);
}
