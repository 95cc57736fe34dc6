import { createArrayChecks } from "./check-array.ts";
import { createConditionChecks } from "./check-condition.ts";
import { createObjectChecks } from "./check-object.ts";
import { createScalarChecks } from "./check-scalar.ts";
import { createUnionChecks } from "./check-union.ts";
import { acceptAll, inOrder } from "./in-order.ts";
import { isJsonObject } from "./json.ts";
import type { JsonObject, JsonSchema, JsonValue } from "./json.ts";
import { refuse, spendOnNode } from "./receive-walk.ts";
import { rememberChecks } from "./remember-checks.ts";
import type { Check, CheckCompiler } from "./receive-walk.ts";
import { createSchemaDocument } from "./schema-document.ts";
import type { SchemaDocument } from "./schema-document.ts";

/** How a schema is held. */
interface CheckOptions {
  /**
   * To the letter: of `oneOf` one arm fits and no other, lengths are counted in characters, and `enum` holds beside `const`.
   * Default `false`: as readers do, who take what the far end has checked.
   */
  readonly isExact?: boolean;
}

interface Compiling {
  readonly isExact: boolean;
  readonly document: SchemaDocument;
  readonly root: JsonSchema;
  readonly made: Map<unknown, Check>;
  readonly targets: Map<unknown, Check>;
  readonly making: Set<unknown>;
}

const acceptNone: Check = (_, walk) => refuse(walk, "expected nothing");

/** Compiles a reader's schema, as `toReaderSchema` makes it, into one function. References must be local. */
export function compileCheck(root: JsonSchema, { isExact = false }: CheckOptions = {}): Check {
  const document = createSchemaDocument(root);
  return compile({ isExact, document, root, made: new Map(), targets: new Map(), making: new Set() }, root);
}

function compile(compiling: Compiling, node: JsonValue | undefined): Check {
  if (node === false) return acceptNone;
  if (!isJsonObject(node)) return acceptAll;
  const made = compiling.made.get(node);
  if (made !== undefined) return made;
  // A node that refers to itself without a property or an item between constrains nothing.
  if (compiling.making.has(node)) return acceptAll;
  compiling.making.add(node);
  const whole = inOrder(compileNode(compiling, node));
  const check = compiling.isExact && whole !== acceptAll ? counted(whole) : whole;
  compiling.making.delete(node);
  compiling.made.set(node, check);
  return check;
}

/** Counts each look at a node: alternatives within alternatives would else take exponential time. */
function counted(check: Check): Check {
  return (json, walk) => {
    spendOnNode(walk);
    return check(json, walk);
  };
}

function compileNode(compiling: Compiling, node: JsonObject): Check[] {
  const compiler: CheckCompiler = {
    isExact: compiling.isExact,
    now: (part) => compile(compiling, part),
    later: (part) => later(compiling, part),
  };
  const { $ref, allOf } = node;
  // Parts first: what is dropped there nothing has been asked about yet.
  const checks = [...createObjectChecks(node, compiler), ...createArrayChecks(node, compiler)];
  checks.push(...createScalarChecks(node, compiling.isExact));
  if (typeof $ref === "string") checks.push(compileTarget(compiling, $ref));
  if (Array.isArray(allOf)) checks.push(...allOf.map((part) => compiler.now(part)));
  checks.push(...createUnionChecks(node, compiler), ...createConditionChecks(node, compiler));
  return checks.filter((check) => check !== acceptAll);
}

function later(compiling: Compiling, node: JsonValue | undefined): Check {
  if (!isJsonObject(node)) return compile(compiling, node);
  let made: Check | undefined;
  return (json, walk) => (made ??= compile(compiling, node))(json, walk);
}

/** What a reference leads to. Only through one can a check come back to itself, so here it is kept from doing so twice. */
function compileTarget(compiling: Compiling, ref: string): Check {
  // toReaderSchema points at nodes and at nothing else.
  const node = compiling.document.resolve(ref, compiling.root).node as JsonObject;
  const known = compiling.targets.get(node);
  if (known !== undefined) return known;
  const check = compile(compiling, node);
  if (check === acceptAll) return check;
  const target = rememberChecks(check);
  compiling.targets.set(node, target);
  return target;
}
