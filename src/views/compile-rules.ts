import { defaultView, type Caller } from "../surface/caller.ts";
import type { OneOf, ViewCondition, ViewEntity, ViewPacket, ViewVerdict } from "./view-rules.ts";
import { toDefined } from "../observe/to-defined.ts";

/** A decision about one entity. */
export interface Decision {
  readonly verdict: ViewVerdict;
  /** The id of the packet in force; left out without a packet. */
  readonly packet?: string | undefined;
  /** The id of the rule that decided; left out if none matches. */
  readonly rule?: string;
  /** The server's name, which patterns may put in front of a tool's name. */
  readonly server?: string | undefined;
}

/** The reason for denying a view that no rule defines. */
export const unknownView = "unknown MCP surface";

/** A field that rules test. */
interface Field {
  readonly ofEntity: (entity: ViewEntity) => string | undefined;
  readonly ofCondition: (when: ViewCondition) => OneOf | undefined;
}

/** All fields. A rule is indexed by the first of them that it names. */
const fields: readonly Field[] = [
  { ofEntity: ({ principal }) => principal, ofCondition: ({ principal }) => principal },
  { ofEntity: ({ surface }) => surface, ofCondition: ({ surface }) => surface },
  { ofEntity: ({ project }) => project, ofCondition: ({ project }) => project },
  { ofEntity: ({ client }) => client?.name, ofCondition: ({ client }) => client?.name },
  { ofEntity: ({ client }) => client?.version, ofCondition: ({ client }) => client?.version },
  { ofEntity: ({ user_agent }) => user_agent, ofCondition: ({ user_agent }) => user_agent },
];

/** One field of a condition, with the values that match. */
interface FieldCondition {
  readonly field: Field;
  readonly values: ReadonlySet<string>;
}

interface CompiledRule {
  /** Position in the packet. The first rule that matches decides. */
  readonly order: number;
  readonly conditions: readonly FieldCondition[];
  readonly decision: Decision;
}

/** Rules of one field, by the value that they require. */
type RulesByValue = Map<string, CompiledRule[]>;

interface CompiledPacket {
  /** Rules with a condition. A decision tests only those that require a value of the entity. */
  readonly byField: ReadonlyMap<Field, RulesByValue>;
  /** The first rule without a condition. */
  readonly open: CompiledRule | undefined;
  /** The decisions if no rule matches: the default view shows everything, and no other view exists. */
  readonly passed: Decision;
  readonly unknown: Decision;
}

function toConditions(when: ViewCondition): readonly FieldCondition[] {
  return fields.flatMap((field) => {
    const oneOf = field.ofCondition(when);
    return oneOf === undefined ? [] : { field, values: new Set([oneOf].flat()) };
  });
}

/** Returns whether a rule matches. A field that the entity lacks matches no value. */
function matches(entity: ViewEntity, { conditions }: CompiledRule): boolean {
  return conditions.every(({ field, values }) => {
    const value = field.ofEntity(entity);
    return value !== undefined && values.has(value);
  });
}

function addRule(byField: Map<Field, RulesByValue>, rule: CompiledRule, first: FieldCondition): void {
  const byValue: RulesByValue = byField.get(first.field) ?? new Map();
  byField.set(first.field, byValue);
  for (const value of first.values) {
    const rules = byValue.get(value);
    if (rules === undefined) byValue.set(value, [rule]);
    else rules.push(rule);
  }
}

function compilePacket(packet: ViewPacket | undefined, server: string | undefined): CompiledPacket {
  const about = { packet: packet?.id, server };
  const byField = new Map<Field, RulesByValue>();
  let open: CompiledRule | undefined;
  for (const [order, { id, when = {}, verdict }] of packet?.rules.entries() ?? []) {
    const conditions = toConditions(when);
    const rule = { order, conditions, decision: Object.freeze({ ...about, verdict, rule: id ?? `${order + 1}` }) };
    const [first] = conditions;
    if (first !== undefined) addRule(byField, rule, first);
    else open ??= rule;
  }
  return {
    byField,
    open,
    passed: Object.freeze({ ...about, verdict: Object.freeze({ kind: "tool_surface" }) }),
    unknown: Object.freeze({ ...about, verdict: Object.freeze({ kind: "deny", reason: unknownView }) }),
  };
}

function findRule({ byField, open }: CompiledPacket, entity: ViewEntity): CompiledRule | undefined {
  let first = open;
  for (const [field, byValue] of byField) {
    const value = field.ofEntity(entity);
    const rules = value === undefined ? undefined : byValue.get(value);
    const found = rules?.find((rule) => matches(entity, rule));
    if (found !== undefined && (first === undefined || found.order < first.order)) first = found;
  }
  return first;
}

/**
 * Compiles packets to a function that decides about an entity. The last packet of a scope is in force, and the packet of the entity's
 * project replaces the global packet. The first rule that matches decides. If none matches, the default view shows everything, and
 * every other view is denied. Entities of one rule get the same object.
 */
export function compileRules(packets: readonly ViewPacket[], server?: string): (entity: ViewEntity) => Decision {
  const byProject = new Map<string | undefined, ViewPacket>(packets.map((packet) => [packet.project, packet]));
  const compiled = new Map(
    Array.from(byProject, ([project, packet]) => [project, compilePacket(packet, server)] as const),
  );
  const global = compiled.get(undefined) ?? compilePacket(undefined, server);
  return (entity) => {
    const packet = (entity.project === undefined ? undefined : compiled.get(entity.project)) ?? global;
    const { passed, unknown } = packet;
    return findRule(packet, entity)?.decision ?? (entity.surface === defaultView ? passed : unknown);
  };
}

const anonymousEntity: ViewEntity = Object.freeze({ surface: defaultView });

/** Returns the facts about a caller that rules may test; unknown ones are left out. */
export function toEntity({ view, isAnonymous, id }: Caller): ViewEntity {
  if (view === undefined && isAnonymous) return anonymousEntity;
  const { surface = defaultView, userAgent, project, client } = view ?? {};
  const principal = isAnonymous ? undefined : id;
  return Object.freeze(toDefined({ surface, user_agent: userAgent, project, client, principal }));
}
