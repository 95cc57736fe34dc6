import { maxPatternLength, maxPatterns } from "../catalog/glob.ts";
import type { SurfaceError } from "../errors.ts";
import {
  describeValue,
  flag,
  listOf,
  matching,
  object,
  oneOf,
  required,
  boundedText,
  unchecked,
  type Option,
  type OptionFields,
} from "../options/option.ts";
import { isObject, isRecord } from "../options/is-object.ts";
import { invalidOption, readOptions } from "../options/read-options.ts";
import {
  viewDomain,
  type DenyVerdict,
  type SurfaceVerdict,
  type ViewCondition,
  type ViewPacket,
  type ViewRule,
  type ViewVerdict,
} from "./view-rules.ts";

// Fields and limits are also in docs/schemas/view-rules.schema.json, for editors.
/** The maximum number of packets, and of rules in all packets together. */
const maxPackets = 1024;
const maxRules = 10_000;

/** The maximum depth of a packet. */
const maxDepth = 8;

/** The id of the packet for rules without one: a list, or views by name. */
const ownPacket = "views";

const name = boundedText(256);
const value = boundedText(1024);
const values = listOf(value, "a list of 1 to 1024 texts", { least: 1, most: 1024 });
const oneOrMany: Option = { problem: (given, path) => (Array.isArray(given) ? values : value).problem(given, path) };
// Hosts cut instructions far below this length.
const prose = boundedText(8192);

const patterns = listOf(boundedText(maxPatternLength), `a list of at most ${maxPatterns} patterns`, {
  most: maxPatterns,
});

/** The fields of a named view that is not denied. */
const shownFields: OptionFields<Omit<SurfaceVerdict, "kind">> = {
  allow: patterns,
  disallow: patterns,
  readOnly: flag,
  instructions: prose,
  face: oneOf("direct", "gateway"),
};

const deniedFields: OptionFields<{ readonly deny: string }> = { deny: required(prose) };

const kind = required(oneOf("tool_surface", "deny"));
const shown = object<SurfaceVerdict>({ kind, ...shownFields });
const denied = object<DenyVerdict>({ kind, reason: required(prose) });
const client = object<NonNullable<ViewCondition["client"]>>({ name: oneOrMany, version: oneOrMany });

function clientProblem(given: unknown, path: string): string | undefined {
  const isEmpty = isRecord(given) && Object.values(given).every((each) => each === undefined);
  return client.problem(given, path) ?? (isEmpty ? `"${path}" must have "name" or "version"` : undefined);
}

function verdictProblem(given: unknown, path: string): string | undefined {
  return (isRecord(given) && Reflect.get(given, "kind") === "deny" ? denied : shown).problem(given, path);
}

const ruleFields: OptionFields<ViewRule> = {
  id: name,
  when: object<ViewCondition>({
    surface: oneOrMany,
    user_agent: oneOrMany,
    project: oneOrMany,
    principal: oneOrMany,
    client: { problem: clientProblem },
  }),
  verdict: required({ problem: verdictProblem }),
};

const packetFields: OptionFields<ViewPacket & { readonly $schema?: unknown }> = {
  $schema: unchecked,
  id: required(name),
  domain: required(matching(`"${viewDomain}"`, new RegExp(`^${viewDomain}$`))),
  description: boundedText(4096),
  project: name,
  rules: required(listOf(unchecked, `a list of 1 to ${maxRules} rules`, { least: 1, most: maxRules })),
};

/** @param where - for example `rule "1" of packet "views"`. */
function misfit(where: string, problem: string): SurfaceError {
  return invalidOption(`Cannot read view rules: ${where}`, problem);
}

/**
 * Returns a frozen copy of plain data. Refuses accessors and instances of classes, which could return something else later. Does not
 * copy a list or depth over the limits, which the schema then refuses.
 */
function copyPlain(given: unknown, where: string, path: readonly string[] = []): unknown {
  if (!isObject(given) || path.length > maxDepth) return given;
  const copyPart = (part: unknown, key: string): unknown => copyPlain(part, where, [...path, key]);
  if (Array.isArray(given)) {
    if (given.length > maxRules) return given;
    // Array.from() copies holes too.
    return Object.freeze(Array.from<unknown>(given).map((part, index) => copyPart(part, `${index}`)));
  }
  const place = path.length === 0 ? "it" : `"${path.join(".")}"`;
  const prototype: unknown = Object.getPrototypeOf(given);
  if (prototype !== null && prototype !== Object.prototype) throw misfit(where, `${place} must be plain data`);
  const properties = Object.entries(Object.getOwnPropertyDescriptors(given));
  const parts = properties.map(([key, property]): readonly [string, unknown] => {
    if (!("value" in property)) {
      throw misfit(where, `"${[...path, key].join(".")}" must be plain data, and is an accessor`);
    }
    return [key, copyPart(property.value, key)];
  });
  return Object.freeze(Object.fromEntries(parts));
}

function readFields<TRead extends object>(given: unknown, fields: OptionFields<TRead>, where: string): TRead {
  const copy = copyPlain(given, where);
  if (!isRecord(copy)) throw misfit(where, `it must be an object, and is ${describeValue(copy)}`);
  // The schema checks every field.
  return Object.freeze(readOptions(copy as TRead, fields, `Cannot read view rules: ${where}`));
}

/** Returns the id of a rule or packet for messages, even if the rest is malformed. */
function idOf(given: unknown): string | undefined {
  const id: unknown = isRecord(given) ? Object.getOwnPropertyDescriptor(given, "id")?.value : undefined;
  return typeof id === "string" && name.problem(id, "") === undefined ? id : undefined;
}

function readRules(given: readonly unknown[], packet: string): readonly ViewRule[] {
  return Object.freeze(
    Array.from(given).map((rule, index) =>
      readFields(rule, ruleFields, `rule "${idOf(rule) ?? index + 1}" of packet ${packet}`),
    ),
  );
}

function readPacket(given: unknown, number: number): ViewPacket {
  const id = idOf(given);
  const packet = id === undefined ? `${number}` : `"${id}"`;
  const { $schema: _schema, rules, ...rest } = readFields(given, packetFields, `packet ${packet}`);
  return Object.freeze({ ...rest, rules: readRules(rules, packet) });
}

function toPacket(rules: readonly ViewRule[]): ViewPacket {
  return Object.freeze({ id: ownPacket, domain: viewDomain, rules: Object.freeze(rules) });
}

function readNamedView(surface: string, given: unknown): ViewVerdict {
  const where = `view "${surface}"`;
  const isDenied = isRecord(given) && Reflect.get(given, "deny") !== undefined;
  if (!isDenied) return Object.freeze({ kind: "tool_surface", ...readFields(given, shownFields, where) });
  return Object.freeze({ kind: "deny", reason: readFields(given, deniedFields, where).deny });
}

function readNamed(given: unknown): ViewPacket {
  const copy = copyPlain(given, "the input");
  if (!isRecord(copy)) throw misfit("the input", `it must be an object, and is ${describeValue(copy)}`);
  const views = Object.entries<unknown>({ ...copy }).filter(([key, view]) => {
    return view !== undefined && (key !== "$schema" || typeof view !== "string");
  });
  if (views.length === 0 || views.length > maxRules) {
    throw misfit("the input", `it must have 1 to ${maxRules} views, and has ${views.length}`);
  }
  const rules = views.map(([surface, view]): ViewRule => {
    const problem = name.problem(surface, "name");
    if (problem !== undefined) throw misfit("a view", problem);
    return Object.freeze({ id: surface, when: Object.freeze({ surface }), verdict: readNamedView(surface, view) });
  });
  return toPacket(rules);
}

/** Returns true for a packet. All other items of a list are read as rules. */
function isPacket(given: unknown): boolean {
  return isObject(given) && (Object.hasOwn(given, "rules") || Object.hasOwn(given, "domain"));
}

/** Returns true for a packet, and false for views by name: views are objects, fields of a packet are not. */
function isPacketAlone(given: unknown): boolean {
  if (!isObject(given)) return false;
  const { id, domain, rules }: PropertyDescriptorMap = Object.getOwnPropertyDescriptors(given);
  return Array.isArray(rules?.value) || typeof id?.value === "string" || typeof domain?.value === "string";
}

function readListed(given: readonly unknown[]): readonly ViewPacket[] {
  const isListed = given.length > 0 && given.length <= maxRules && given.some(isPacket);
  const [items, most] = isListed ? ["packets", maxPackets] : ["rules or packets", maxRules];
  if (given.length === 0 || given.length > most) {
    throw misfit("the input", `it must be a list of 1 to ${most} ${items}, and is ${describeValue(given)}`);
  }
  if (!isListed) return [toPacket(readRules(given, `"${ownPacket}"`))];
  return Array.from(given).map((one, index) => readPacket(one, index + 1));
}

/**
 * Reads rules in every form: a list of rules, a packet, a list of packets, views by name. Returns frozen copies.
 *
 * @throws SurfaceError `INVALID_OPTION` naming packet, rule and field.
 */
export function readViewRules(input: unknown): readonly ViewPacket[] {
  const packets = Array.isArray(input)
    ? readListed(input)
    : [isPacketAlone(input) ? readPacket(input, 1) : readNamed(input)];
  const count = packets.reduce((sum, one) => sum + one.rules.length, 0);
  if (count > maxRules) throw misfit("the input", `it must have at most ${maxRules} rules, and has ${count}`);
  return Object.freeze(packets);
}
