import { defaultView, type Caller } from "../surface/caller.ts";
import type { OneOf, ViewCondition, ViewEntity, ViewPacket, ViewVerdict } from "./view-rules.ts";

/** A decision about one entity. */
export interface Decision {
  readonly verdict: ViewVerdict;
  /** The packet with the rules; left out if there is none. */
  readonly packet?: string | undefined;
  /** The id of the rule that decided; left out if no rule fits. */
  readonly rule?: string;
  /** The server's name: patterns may put it in front of the name of a tool. */
  readonly server?: string | undefined;
}

/** The reason for denying a view that no rule defines. */
export const unknownView = "unknown MCP surface";

/** A rule is filed under the first of these fields that it names. */
const readers = {
  principal: (entity: ViewEntity) => entity.principal,
  surface: (entity: ViewEntity) => entity.surface,
  project: (entity: ViewEntity) => entity.project,
  "client.name": (entity: ViewEntity) => entity.client?.name,
  "client.version": (entity: ViewEntity) => entity.client?.version,
  user_agent: (entity: ViewEntity) => entity.user_agent,
} satisfies Readonly<Record<string, (entity: ViewEntity) => string | undefined>>;

type EntityField = keyof typeof readers;

/** One field of a condition, with the values that fit. */
interface Wanted {
  readonly field: EntityField;
  readonly values: ReadonlySet<string>;
}

interface CompiledRule {
  /** Position in the packet: of the rules that fit, the lowest decides. */
  readonly order: number;
  readonly wanted: readonly Wanted[];
  readonly decision: Decision;
}

/** Rules of one field by the value that they require. */
type FiledRules = Map<string, CompiledRule[]>;

interface CompiledPacket {
  /** Rules with a condition: a decision only looks at those that require a value of the entity. */
  readonly filed: ReadonlyMap<EntityField, FiledRules>;
  readonly open: CompiledRule | undefined;
  /** The decisions where no rule fits: the default view shows everything, and no other view exists. */
  readonly passed: Decision;
  readonly unknown: Decision;
}

function toWanted({ client, ...texts }: ViewCondition): readonly Wanted[] {
  const named: Readonly<Record<EntityField, OneOf | undefined>> = {
    principal: texts.principal,
    surface: texts.surface,
    project: texts.project,
    "client.name": client?.name,
    "client.version": client?.version,
    user_agent: texts.user_agent,
  };
  // The names of a record that lists every field.
  return (Object.keys(readers) as EntityField[]).flatMap((field) => {
    const oneOf = named[field];
    return oneOf === undefined ? [] : { field, values: new Set(typeof oneOf === "string" ? [oneOf] : oneOf) };
  });
}

/** Tells whether a rule applies. An unknown field of the entity fits no value. */
function isFor(entity: ViewEntity, { wanted }: CompiledRule): boolean {
  return wanted.every(({ field, values }) => {
    const value = readers[field](entity);
    return value !== undefined && values.has(value);
  });
}

function fileRule(filed: Map<EntityField, FiledRules>, { field, values }: Wanted, rule: CompiledRule): void {
  const byValue: FiledRules = filed.get(field) ?? new Map();
  filed.set(field, byValue);
  for (const value of values) {
    const rules = byValue.get(value);
    if (rules === undefined) byValue.set(value, [rule]);
    else rules.push(rule);
  }
}

function compilePacket(packet: ViewPacket | undefined, server: string | undefined): CompiledPacket {
  const about = { packet: packet?.id, server };
  const filed = new Map<EntityField, FiledRules>();
  let open: CompiledRule | undefined;
  for (const [order, { id, when = {}, verdict }] of packet?.rules.entries() ?? []) {
    const wanted = toWanted(when);
    const rule = { order, wanted, decision: Object.freeze({ ...about, verdict, rule: id ?? `${order + 1}` }) };
    const [first] = wanted;
    if (first !== undefined) fileRule(filed, first, rule);
    else open ??= rule;
  }
  return {
    filed,
    open,
    passed: Object.freeze({ ...about, verdict: Object.freeze({ kind: "tool_surface" }) }),
    unknown: Object.freeze({ ...about, verdict: Object.freeze({ kind: "deny", reason: unknownView }) }),
  };
}

function findRule({ filed, open }: CompiledPacket, entity: ViewEntity): CompiledRule | undefined {
  let first = open;
  for (const [field, byValue] of filed) {
    const value = readers[field](entity);
    const rules = value === undefined ? undefined : byValue.get(value);
    const found = rules?.find((rule) => isFor(entity, rule));
    if (found !== undefined && (first === undefined || found.order < first.order)) first = found;
  }
  return first;
}

/**
 * Compiles packets to the function that decides about an entity. Of the packets of one scope the last holds, and the packet of the
 * entity's project replaces the packet for everybody. The first rule that fits decides; without one the default view shows everything
 * and every other view is denied. Entities that one rule decides about get the same object.
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

/** Returns the facts about a caller that rules may ask for; unknown ones are left out. */
export function toEntity({ view, isAnonymous, id }: Caller): ViewEntity {
  if (view === undefined && isAnonymous) return anonymousEntity;
  const { surface = defaultView, userAgent, project, client } = view ?? {};
  return Object.freeze({
    surface,
    ...(userAgent === undefined ? {} : { user_agent: userAgent }),
    ...(project === undefined ? {} : { project }),
    ...(client === undefined ? {} : { client }),
    ...(isAnonymous ? {} : { principal: id }),
  });
}
