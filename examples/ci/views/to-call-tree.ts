import type { CallNode } from "surface-mcp";

function toLine({ operationId, state, code }: CallNode): string {
  return `${operationId}: ${state}${code === undefined ? "" : ` ${code}`}`;
}

function toBranches(children: readonly CallNode[], lead: string): readonly string[] {
  return children.flatMap((child, index) => {
    const isLast = index === children.length - 1;
    const below = toBranches(child.children, `${lead}${isLast ? "   " : "│  "}`);
    return [`${lead}${isLast ? "└─ " : "├─ "}${toLine(child)}`, ...below];
  });
}

/** A call and its parts, a line each. */
export function toCallTree(root: CallNode): readonly string[] {
  return [toLine(root), ...toBranches(root.children, "")];
}
