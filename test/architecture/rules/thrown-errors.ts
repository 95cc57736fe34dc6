import { type CallExpression, type NewExpression, Visitor } from "oxc-parser";
import { lineAt, type Source } from "../source.ts";

/** `AggregateError` is not among them: it says only that several errors came at once. */
const anonymous: ReadonlySet<string> = new Set([
  "Error",
  "EvalError",
  "RangeError",
  "ReferenceError",
  "SyntaxError",
  "TypeError",
  "URIError",
]);

const ours: ReadonlySet<string> = new Set(["SurfaceError", "Refusal"]);

function calleeName({ callee }: NewExpression | CallExpression): string {
  return callee.type === "Identifier" ? callee.name : "";
}

/** The end of a message that is spelled out, or `undefined` for one that is computed. */
function messageEnd(node: NewExpression): string | undefined {
  const message = node.arguments[1];
  if (message?.type === "Literal" && typeof message.value === "string") return message.value;
  return message?.type === "TemplateLiteral" ? message.quasis.at(-1)?.value.raw : undefined;
}

/** Errors without a code, made outside `errors.ts`; and messages that end with a full stop. */
export function findAnonymousErrors(source: Source): string[] {
  const found: string[] = [];
  const judge = (node: NewExpression | CallExpression): void => {
    const name = calleeName(node);
    const where = `${source.path}:${lineAt(source, node.start)}`;
    if (anonymous.has(name) && source.path !== "src/errors.ts") found.push(`${where} makes a ${name}`);
    if (node.type === "NewExpression" && ours.has(name) && messageEnd(node)?.endsWith(".") === true) {
      found.push(`${where} ends a message with a full stop`);
    }
  };
  new Visitor({ NewExpression: judge, CallExpression: judge }).visit(source.program);
  return found;
}
