import type { Caller } from "../../src/surface/caller.ts";
import type { ViewRule } from "../../src/index.ts";
import type { RequestKind } from "./live-script.ts";
import { standingOf, verdictOf } from "./views-model.ts";
import { idOf, type RandomThing, type RandomWorld } from "./views-world.ts";

/** Returns a tool's id as it is called on the wire. */
export function wireOf(id: string): string {
  return id.replaceAll(".", "_");
}

/** A caller's view at the time of one request. */
export interface Moment {
  readonly caller: Caller;
  readonly surface: string;
  readonly project: string | undefined;
  readonly rules: readonly ViewRule[];
}

function isTool({ sort }: RandomThing): boolean {
  return sort === "tool" || sort === "operation";
}

const listed: Readonly<Record<string, readonly RandomThing["sort"][]>> = {
  "tools/list": ["tool", "operation"],
  "prompts/list": ["prompt"],
  "resources/list": ["resource"],
  "resources/templates/list": ["template"],
};

/** Answers from the declaration of an app and the rules in force, for one request. */
export class LiveOracle {
  readonly #world: RandomWorld;

  constructor(world: RandomWorld, { caller, surface, project, rules }: Moment) {
    const { scopes, resources = {} } = caller;
    this.#world = { ...world, surface, project, rules, granted: { scopes, resources } };
  }

  /** How the view shows tools; `undefined` if it lets nobody in. */
  get face(): "direct" | "gateway" | undefined {
    const verdict = verdictOf(this.#world);
    return verdict.kind === "deny" ? undefined : (verdict.face ?? "direct");
  }

  isTheirs(thing: RandomThing): boolean {
    return standingOf(this.#world, thing) === "theirs";
  }

  /** Every spelling of a name that no response may contain. */
  get forbidden(): readonly string[] {
    const hidden = this.#world.things.filter((thing) => !this.isTheirs(thing)).map(idOf);
    return [...new Set(hidden.flatMap((id) => [id, wireOf(id)]))];
  }

  /** The ids that a list has to hold, exactly. */
  listedBy(method: string): readonly string[] {
    if (this.face === undefined || (method === "tools/list" && this.face === "gateway")) return [];
    return this.#idsOf(listed[method] ?? []);
  }

  /** The ids of all operations behind the gateway; none where the view is no gateway. */
  get behindGateway(): readonly string[] {
    return this.face === "gateway" ? this.#idsOf(["tool", "operation"]) : [];
  }

  /** Whether a request runs the handler of the thing it names. `undefined`: the pull tool itself may be hidden. */
  runs(kind: RequestKind, thing: RandomThing): boolean | undefined {
    if (this.face === undefined || !this.isTheirs(thing)) return false;
    if (kind === "use") return !isTool(thing) || this.face === "direct";
    if (kind === "gateway call") return isTool(thing) && this.face === "gateway";
    if (kind === "read_resource") return thing.sort === "resource" || thing.sort === "template" ? undefined : false;
    return false;
  }

  /** Whether a request that names this thing has to be answered like one that names nothing. */
  isAbsent(kind: RequestKind, thing: RandomThing): boolean {
    const standing = standingOf(this.#world, thing);
    if (this.face === undefined || standing === "none") return true;
    if (kind === "use") return isTool(thing) && this.face === "gateway";
    return standing !== "theirs" || (kind.startsWith("gateway") && this.face === "direct");
  }

  #idsOf(sorts: readonly RandomThing["sort"][]): readonly string[] {
    return this.#world.things
      .filter((thing) => sorts.includes(thing.sort) && this.isTheirs(thing))
      .map(idOf)
      .toSorted();
  }
}
