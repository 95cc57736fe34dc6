import { type MemberExpression, Visitor } from "oxc-parser";
import { importsOf, lineAt, type Source } from "../source.ts";

/**
 * Who may touch what of the process, by the beginning of its path. Everything else of `process` is free to read. A live
 * surface that is served over standard input and output has them to itself, as an app has: the guard is shared.
 */
const owners: Readonly<Record<string, readonly string[]>> = {
  exit: ["src/links/on-process-end.ts", "src/cli/"],
  kill: ["src/cli/"],
  abort: [],
  stdout: ["src/stdio/", "src/cli/", "src/links/stdout-guard.ts"],
  stdin: ["src/stdio/", "src/cli/", "src/links/stdio/"],
};

const isOwner = (path: string, owned: readonly string[]): boolean => owned.some((start) => path.startsWith(start));

function memberName(node: MemberExpression): string {
  if (node.property.type === "Identifier" && !node.computed) return node.property.name;
  return node.property.type === "Literal" ? String(node.property.value) : "";
}

/** Uses of the process that belong to one place, and ways to use it unseen. */
export function findProcessControl(source: Source): string[] {
  const found: string[] = [];
  const report = (start: number, what: string): void =>
    void found.push(`${source.path}:${lineAt(source, start)} ${what}`);
  new Visitor({
    MemberExpression: (node) => {
      if (node.object.type !== "Identifier" || node.object.name !== "process") return;
      const owned = owners[memberName(node)];
      if (owned !== undefined && !isOwner(source.path, owned)) report(node.start, `uses process.${memberName(node)}`);
    },
    VariableDeclarator: (node) => {
      if (node.init?.type === "Identifier" && node.init.name === "process" && node.id.type === "ObjectPattern") {
        report(node.start, "takes process apart");
      }
    },
    Property: (node) => {
      if (node.key.type === "Identifier" && node.key.name === "shell") report(node.start, "sets the option shell");
    },
    NewExpression: (node) => {
      const isNow = node.callee.type === "Identifier" && node.callee.name === "Date" && node.arguments.length === 0;
      if (isNow && source.path.startsWith("src/spine/")) report(node.start, "asks for the time");
    },
  }).visit(source.program);
  for (const { specifier, line } of importsOf(source)) {
    const hidden = specifier === "node:process" || specifier === "process";
    if (hidden) found.push(`${source.path}:${line} imports "${specifier}", which hides whose process it is`);
  }
  return found;
}
