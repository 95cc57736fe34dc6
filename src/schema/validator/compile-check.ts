import type { Issue } from "../../errors.ts";
import type { CompiledSchema } from "../compile-schema.ts";
import { createTypeTest, isJsonObject, type JsonObject, type JsonSchema, type JsonValue, toList } from "../json.ts";
import { typesOf, valuesOf } from "../keywords.ts";
import { SchemaDocument } from "../schema-document.ts";
import { createArrayChecks, createObjectChecks, createScalarChecks, createValueTest } from "./check-parts.ts";
import {
  addFault,
  addIssue,
  type Check,
  type CheckCompiler,
  type CheckWalk,
  countVisit,
  createCheckWalk,
  fitsQuietly,
} from "./check-walk.ts";

type Test = (json: JsonValue) => boolean;

interface Arm {
  readonly check: Check;
  /** Rules the arm out without a check, by its type and the constants in its fields. */
  readonly test: Test;
}

const acceptAny: Test = () => true;
const acceptAll: Check = () => true;
const acceptNone: Check = (_, walk) => addIssue(walk, "expected nothing");

/**
 * Compiles a reader's schema, as `toReaderSchema` makes it, into one function. References must be local.
 *
 * @param isExact - Holds the schema to the letter: `oneOf` accepts one fitting arm and no second, lengths count characters, and
 *   `enum` holds beside `const`. Readers are more lenient, since the far end has validated the value. @default false
 */
export function compileCheck(root: JsonSchema, { isExact = false }: { readonly isExact?: boolean } = {}): Check {
  return new Compiler(root, isExact).now(root);
}

class Compiler implements CheckCompiler {
  readonly isExact: boolean;
  readonly #root: JsonSchema;
  readonly #document: SchemaDocument;
  readonly #made = new Map<unknown, Check>();
  readonly #targets = new Map<unknown, Check>();
  readonly #making = new Set<unknown>();

  constructor(root: JsonSchema, isExact: boolean) {
    this.isExact = isExact;
    this.#root = root;
    this.#document = new SchemaDocument(root);
  }

  now(node: JsonValue | undefined): Check {
    if (node === false) return acceptNone;
    if (!isJsonObject(node)) return acceptAll;
    const made = this.#made.get(node);
    if (made !== undefined) return made;
    // A node that refers to itself without a property or an item between constrains nothing.
    if (this.#making.has(node)) return acceptAll;
    this.#making.add(node);
    const whole = every(this.#checksOf(node));
    const check = this.isExact && whole !== acceptAll ? counted(whole) : whole;
    this.#making.delete(node);
    this.#made.set(node, check);
    return check;
  }

  later(node: JsonValue | undefined): Check {
    if (!isJsonObject(node)) return this.now(node);
    let made: Check | undefined;
    return (json, walk) => (made ??= this.now(node))(json, walk);
  }

  #checksOf(node: JsonObject): Check[] {
    const { $ref, allOf } = node;
    const checks = [...createObjectChecks(node, this), ...createArrayChecks(node, this)];
    checks.push(...createScalarChecks(node, this.isExact));
    if (typeof $ref === "string") checks.push(this.#target($ref));
    checks.push(...toList(allOf).map((part) => this.now(part)));
    checks.push(...createUnionChecks(node, this));
    return checks.filter((check) => check !== acceptAll);
  }

  /** Compiles the target of a reference. Only through one can a check come back to itself, so it answers once a value. */
  #target(ref: string): Check {
    // toReaderSchema points at nodes and at nothing else.
    const node = this.#document.resolve(ref, this.#root).node as JsonObject;
    const known = this.#targets.get(node);
    if (known !== undefined) return known;
    const check = this.now(node);
    if (check === acceptAll) return check;
    const target = rememberAnswers(check);
    this.#targets.set(node, target);
    return target;
  }
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

/** Counts each visit of a node: alternatives within alternatives would else take exponential time. */
function counted(check: Check): Check {
  return (json, walk) => {
    countVisit(walk);
    return check(json, walk);
  };
}

/** Runs a check once on a value: a recursive schema with alternatives would check a part once for each way to it, which is 2^depth. */
function rememberAnswers(check: Check): Check {
  return (json, walk) => {
    if (typeof json !== "object" || json === null) return check(json, walk);
    walk.known ??= new Map();
    const answers = walk.known.get(check) ?? new Map<JsonValue, boolean>();
    walk.known.set(check, answers);
    const known = answers.get(json);
    // The first run added the issues, unless an alternative was tried.
    if (known !== undefined) return known || addIssue(walk, "does not fit its schema");
    const fits = check(json, walk);
    answers.set(json, fits);
    return fits;
  };
}

/** Creates the checks of alternatives and conditions. An inexact check accepts any arm of a `oneOf`. */
function createUnionChecks(node: JsonObject, compiler: CheckCompiler): Check[] {
  const { anyOf, oneOf, not, if: condition, dependentSchemas } = node;
  const checks: Check[] = [];
  for (const list of [anyOf, oneOf]) {
    if (!Array.isArray(list)) continue;
    const arms = list.map((arm: JsonValue): Arm => ({ check: compiler.now(arm), test: toTest(arm) }));
    const isOnly = list === oneOf && compiler.isExact;
    checks.push((json, walk) => (isOnly ? checkOnlyArm(arms, json, walk) : checkArms(arms, json, walk)));
  }
  if (not !== undefined) {
    const check = compiler.now(not);
    checks.push((json, walk) => !fitsQuietly(check, json, walk) || addIssue(walk, "expected something else"));
  }
  if (condition !== undefined) {
    const [test, fit, unfit] = [compiler.now(condition), compiler.now(node["then"]), compiler.now(node["else"])];
    checks.push((json, walk) => (fitsQuietly(test, json, walk) ? fit : unfit)(json, walk));
  }
  for (const [key, schema] of Object.entries(isJsonObject(dependentSchemas) ? dependentSchemas : {})) {
    const check = compiler.now(schema);
    checks.push((json, walk) => !isJsonObject(json) || !Object.hasOwn(json, key) || check(json, walk));
  }
  return checks;
}

function checkOnlyArm(arms: readonly Arm[], json: JsonValue, walk: CheckWalk): boolean {
  const fitting = arms.filter(({ check, test }) => test(json) && fitsQuietly(check, json, walk));
  if (fitting.length === 1) return true;
  if (fitting.length > 1) return addIssue(walk, "more than one option fits");
  // Runs again for the issues, unless an alternative is tried.
  return !walk.quiet && checkArms(arms, json, walk);
}

function checkArms(arms: readonly Arm[], json: JsonValue, walk: CheckWalk): boolean {
  const possible = arms.filter(({ test }) => test(json));
  const [only] = possible;
  // The issues of the only arm that is possible are those of the value.
  if (only !== undefined && possible.length === 1) return only.check(json, walk);
  return possible.some(({ check }) => fitsQuietly(check, json, walk)) || addIssue(walk, "no option fits");
}

function toTest(arm: JsonValue): Test {
  if (!isJsonObject(arm)) return acceptAny;
  const values = valuesOf(arm);
  if (values !== undefined) return createValueTest(values);
  const types = typesOf(arm);
  if (types === undefined) return acceptAny;
  const ofType = createTypeTest(types);
  const tags = arm["type"] === "object" ? tagsOf(arm) : [];
  return tags.length === 0 ? ofType : (json) => ofType(json) && isJsonObject(json) && hasTags(json, tags);
}

function tagsOf({ properties, required }: JsonObject): [string, Test][] {
  if (!isJsonObject(properties) || !Array.isArray(required)) return [];
  return required.flatMap((key): [string, Test][] => {
    const property = typeof key === "string" && Object.hasOwn(properties, key) ? properties[key] : undefined;
    const values = isJsonObject(property) ? valuesOf(property) : undefined;
    return values === undefined || typeof key !== "string" ? [] : [[key, createValueTest(values)]];
  });
}

function hasTags(json: JsonObject, tags: readonly [string, Test][]): boolean {
  return tags.every(([key, test]) => {
    const value = Object.hasOwn(json, key) ? json[key] : undefined;
    return value !== undefined && test(value);
  });
}

/** The outcome of receiving a value: the value as it was in memory, or at most 5 bounded issues. */
export type Received =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly issues: readonly Issue[] };

/** Reads one value off the wire, without a wrapper; undefined where nothing was sent. Never throws. */
export type Receiver = (json: JsonValue | undefined) => Received;

const absent: Received = Object.freeze({ ok: true, value: undefined });

/**
 * Creates the reader of an output's values for the far end of a link. It refuses a value that does not fit the schema, and drops
 * fields that closed objects do not declare, since the far end may be newer. The author's schema does not run: no transform runs
 * twice, and refinements are checked where the value comes from. The first value compiles the schema.
 */
export function createReceiver(compiled: CompiledSchema): Receiver {
  let check: Check | undefined;
  const { bare, optional } = compiled;
  const run = (json: JsonValue, walk: CheckWalk): Received | undefined => {
    check ??= compileCheck(compiled.reader());
    if (fitsQuietly(check, json, walk)) return { ok: true, value: bare.codec.decode(json) };
    // Most values fit as they are: fields are dropped only from those that do not.
    const pruned = bare.codec.prune(json);
    walk.known = undefined;
    return check(pruned, walk) ? { ok: true, value: bare.codec.decode(pruned) } : undefined;
  };
  return (json) => {
    if (json === undefined && optional) return absent;
    const walk = createCheckWalk();
    try {
      const received = json === undefined ? undefined : run(json, walk);
      if (received !== undefined) return received;
    } catch (fault) {
      addFault(walk, fault);
    }
    // A resource that may be undefined sends null, since a resource always has content.
    if (json === null && optional) return absent;
    if (walk.issues.length === 0) addIssue(walk, "expected a value, received nothing");
    return { ok: false, issues: walk.issues };
  };
}
