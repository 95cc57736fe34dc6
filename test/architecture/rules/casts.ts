import { type Node, Visitor } from "oxc-parser";
import { lineAt, type Source } from "../source.ts";

/** The lines on which a comment ends, tool directives left out: those give no reason. */
function commentedLines(source: Source): ReadonlySet<number> {
  const reasons = source.comments.filter(({ value }) => !/^\s*(?:oxlint|eslint|@ts|v8|oxfmt)-?/.test(value));
  return new Set(reasons.map((comment) => lineAt(source, comment.end)));
}

/** Offsets of every statement, member and property: a reason may stand above the whole of one that spans lines. */
function statementStarts(source: Source): { start: number; end: number }[] {
  const spans: { start: number; end: number }[] = [];
  const keep = ({ start, end }: { start: number; end: number }): void => void spans.push({ start, end });
  new Visitor({
    ExportNamedDeclaration: keep,
    VariableDeclaration: keep,
    ReturnStatement: keep,
    ExpressionStatement: keep,
    ThrowStatement: keep,
    IfStatement: keep,
    ForOfStatement: keep,
    Property: keep,
    PropertyDefinition: keep,
  }).visit(source.program);
  return spans;
}

function isExplained(source: Source, cast: { start: number; end: number }): boolean {
  const reasons = commentedLines(source);
  const around = statementStarts(source).filter((one) => one.start <= cast.start && cast.end <= one.end);
  const innermost = around.toSorted((a, b) => b.start - a.start || a.end - b.end).slice(0, 1);
  // `export const x = …` is two nodes that start on one line; any other nesting explains only its innermost part.
  return [cast.start, cast.end, ...innermost.map((one) => one.start)]
    .map((offset) => lineAt(source, offset))
    .some((line) => reasons.has(line - 1));
}

const isConst = (type: Node): boolean =>
  type.type === "TSTypeReference" && type.typeName.type === "Identifier" && type.typeName.name === "const";

/** Casts without a comment on the line above that gives the reason; every `any`; every `!` that silences the compiler. */
export function findEscapes(source: Source): string[] {
  const found: string[] = [];
  const report = (node: { start: number }, what: string): void =>
    void found.push(`${source.path}:${lineAt(source, node.start)} ${what}`);
  new Visitor({
    TSAnyKeyword: (node) => report(node, "says any"),
    TSNonNullExpression: (node) => report(node, "asserts non-null"),
    TSTypeAssertion: (node) => report(node, "casts with angle brackets"),
    TSAsExpression: (node) => {
      // The inner half of `x as unknown as T` belongs to the outer one, which needs the reason.
      if (isConst(node.typeAnnotation) || node.typeAnnotation.type === "TSUnknownKeyword") return;
      if (!isExplained(source, node)) report(node, "casts without a reason on the line above");
    },
  }).visit(source.program);
  return found;
}
