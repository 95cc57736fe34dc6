import { type TSTypeParameterDeclaration, Visitor } from "oxc-parser";
import { lineAt, type Source } from "../source.ts";

/** `TInput` on a type, `$Input` on a method that infers it, and `T` alone only where there is no other. */
function isGoodName(name: string, count: number): boolean {
  return name === "T" ? count === 1 : /^(?:T[A-Z]|\$[A-Z])\w*$/.test(name);
}

/** Type parameters whose name does not tell who fills them. `infer X` is a local name, and free. */
export function findBadGenerics(source: Source): string[] {
  const found: string[] = [];
  new Visitor({
    TSTypeParameterDeclaration: ({ params }: TSTypeParameterDeclaration) => {
      for (const { name, start } of params) {
        if (isGoodName(name.name, params.length)) continue;
        found.push(`${source.path}:${lineAt(source, start)} names a type parameter "${name.name}"`);
      }
    },
  }).visit(source.program);
  return found;
}
