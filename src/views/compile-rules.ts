import { defaultView } from "../surface/caller.ts";
import type { Decision } from "./decision.ts";
import { unknownView } from "./unknown-view.ts";
import type { OneOf, ViewCondition, ViewEntity, ViewPacket } from "./view-rules.ts";

/** A field of an entity that rules may ask about. */
export type EntityField = "surface" | "user_agent" | "project" | "principal" | "client.name" | "client.version";

/** How each is read. */
const readers: Readonly<Record<EntityField, (entity: ViewEntity) => string | undefined>> = {
  surface: (entity) => entity.surface,
  user_agent: (entity) => entity.user_agent,
  project: (entity) => entity.project,
  principal: (entity) => entity.principal,
  "client.name": (entity) => entity.client?.name,
  "client.version": (entity) => entity.client?.version,
};

/** The fields that rules may ask about, in one order. */
const fieldNames = Object.keys(readers).filter((name): name is EntityField => Object.hasOwn(readers, name));

/** Some packets, ready to be asked. */
export interface CompiledRules {
  /** What their answer hangs on: of an entity nothing else matters. */
  readonly fields: readonly EntityField[];
  /** Decides anew each time. The same object for all whom the same rule is for. */
  decide(entity: ViewEntity): Decision;
}

/** Reads a field of an entity; `undefined` where it is not known. */
export function readField(entity: ViewEntity, field: EntityField): string | undefined {
  return readers[field](entity);
}

/** One condition of a rule. */
interface Wanted {
  readonly field: EntityField;
  readonly values: ReadonlySet<string>;
}

function toWanted({ client, ...texts }: ViewCondition): readonly Wanted[] {
  const named: Readonly<Record<string, OneOf | undefined>> = {
    ...texts,
    "client.name": client?.name,
    "client.version": client?.version,
  };
  return fieldNames.flatMap((field) => {
    const oneOf = named[field];
    return oneOf === undefined ? [] : { field, values: new Set(typeof oneOf === "string" ? [oneOf] : oneOf) };
  });
}

/** What is not known fits nothing. */
function isFor(entity: ViewEntity, wanted: readonly Wanted[]): boolean {
  return wanted.every(({ field, values }) => {
    const value = readField(entity, field);
    return value !== undefined && values.has(value);
  });
}

interface CompiledRule {
  readonly wanted: readonly Wanted[];
  readonly decision: Decision;
}

/** The packet that holds for a scope. */
interface CompiledPacket {
  readonly rules: readonly CompiledRule[];
  readonly passed: Decision;
  readonly unknown: Decision;
}

/** What is said of an entity for which no rule is: the default view shows everything, and there is no other. */
function toFallbacks(about: Omit<Decision, "verdict">): Pick<CompiledPacket, "passed" | "unknown"> {
  return {
    passed: Object.freeze({ ...about, verdict: Object.freeze({ kind: "tool_surface" }) }),
    unknown: Object.freeze({ ...about, verdict: Object.freeze({ kind: "deny", reason: unknownView }) }),
  };
}

function toServer(server: string | undefined): Pick<Decision, "server"> {
  return server === undefined ? {} : { server };
}

function compilePacket({ id, rules }: ViewPacket, server: string | undefined): CompiledPacket {
  const about = { packet: id, ...toServer(server) };
  return {
    rules: rules.map((rule, index) => ({
      wanted: toWanted(rule.when ?? {}),
      decision: Object.freeze({ ...about, verdict: rule.verdict, rule: rule.id ?? `${index + 1}` }),
    })),
    ...toFallbacks(about),
  };
}

function fieldsOf(packets: readonly CompiledPacket[], byProject: boolean): readonly EntityField[] {
  const used = new Set<EntityField>(byProject ? ["surface", "project"] : ["surface"]);
  for (const { rules } of packets) for (const { wanted } of rules) for (const { field } of wanted) used.add(field);
  return fieldNames.filter((name) => used.has(name));
}

/**
 * Makes packets ready to be asked: of those of one scope the last holds, and that of an entity's project stands in the place of
 * the one for everybody. The first rule that is for an entity decides; where none is, the default view shows everything and
 * nobody gets in by another. Pure.
 */
export function compileRules(packets: readonly ViewPacket[], server?: string): CompiledRules {
  const byProject = new Map<string, CompiledPacket>();
  let global: CompiledPacket = { rules: [], ...toFallbacks(toServer(server)) };
  for (const packet of packets) {
    const compiled = compilePacket(packet, server);
    if (packet.project === undefined) global = compiled;
    else byProject.set(packet.project, compiled);
  }
  return {
    fields: fieldsOf([global, ...byProject.values()], byProject.size > 0),
    decide(entity) {
      const own = entity.project === undefined ? undefined : byProject.get(entity.project);
      const { rules, passed, unknown } = own ?? global;
      const found = rules.find(({ wanted }) => isFor(entity, wanted));
      return found?.decision ?? (entity.surface === defaultView ? passed : unknown);
    },
  };
}
