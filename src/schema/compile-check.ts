import { createArrayChecks } from "./check-array.ts";
import { createObjectChecks } from "./check-object.ts";
import { createScalarChecks } from "./check-scalar.ts";
import { createUnionChecks } from "./check-union.ts";
import { isJsonObject } from "./json.ts";
import type { JsonObject, JsonSchema, JsonValue } from "./json.ts";
import { refuse, spendOnNode } from "./receive-walk.ts";
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

const acceptAll: Check = () => true;
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
  const whole = every(compileNode(compiling, node));
  const check = compiling.isExact && whole !== acceptAll ? counted(whole) : whole;
  compiling.making.delete(node);
  compiling.made.set(node, check);
  return check;
}

/** Runs checks until one refuses. */
function every(checks: readonly Check[]): Check {
  const [first = acceptAll, ...others] = checks;
  if (others.length === 0) return first;
  return (json, walk) => {
    for (const check of checks) if (!check(json, walk)) return false;
    return true;
  };
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
  const checks = [...createObjectChecks(node, compiler), ...createArrayChecks(node, compiler)];
  checks.push(...createScalarChecks(node, compiling.isExact));
  if (typeof $ref === "string") checks.push(compileTarget(compiling, $ref));
  if (Array.isArray(allOf)) checks.push(...allOf.map((part) => compiler.now(part)));
  checks.push(...createUnionChecks(node, compiler));
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
  const target = rememberAnswers(check);
  compiling.targets.set(node, target);
  return target;
}

/**
 * Runs a check once on a value. A recursive schema with alternatives would otherwise check a part once for every way that leads
 * to it, which is 2^depth.
 */
function rememberAnswers(check: Check): Check {
  return (json, walk) => {
    if (typeof json !== "object" || json === null) return check(json, walk);
    walk.known ??= new Map();
    const answers = walk.known.get(check) ?? new Map<JsonValue, boolean>();
    walk.known.set(check, answers);
    const known = answers.get(json);
    // The issues were added when it was found, unless that was while an alternative was tried.
    if (known !== undefined) return known || refuse(walk, "does not fit its schema");
    const fits = check(json, walk);
    answers.set(json, fits);
    return fits;
  };
}
