import { Visitor } from "oxc-parser";
import { lineAt, type Source } from "../source.ts";

/** Names that a file takes from another file of ours: exporting one of them is a re-export in two lines. */
function importedNames(source: Source): ReadonlySet<string> {
  const own = source.module.staticImports.filter(({ moduleRequest }) => moduleRequest.value.startsWith("."));
  return new Set(own.flatMap(({ entries }) => entries.map((entry) => entry.localName.value)));
}

/**
 * `export *`, default exports, and files that hand on what they did not declare.
 *
 * @param entries - the source files of the package's entries: the only ones that may re-export or be called `index.ts`.
 */
export function findBadExports(source: Source, entries: ReadonlySet<string>): string[] {
  const found: string[] = [];
  const isEntry = entries.has(source.path);
  const imported = importedNames(source);
  const report = (node: { start: number }, what: string): void =>
    void found.push(`${source.path}:${lineAt(source, node.start)} ${what}`);
  if (source.path.endsWith("/index.ts") && !isEntry) found.push(`${source.path}:1 is an inner barrel by its name`);
  new Visitor({
    ExportAllDeclaration: (node) => report(node, "exports *"),
    ExportDefaultDeclaration: (node) => report(node, "has a default export"),
    ExportNamedDeclaration: (node) => {
      const names = node.specifiers.map(({ local }) => (local.type === "Identifier" ? local.name : ""));
      // A type of a package may have its one door in the folder that owns the subject; our own files have no doors.
      const handsOn = node.source?.value.startsWith(".") === true || names.some((name) => imported.has(name));
      if (handsOn && !isEntry) report(node, "exports what it did not declare");
      if (isEntry && node.declaration !== null) report(node, "declares something in an entry");
    },
  }).visit(source.program);
  return found;
}
