import type { MountSource } from "../../catalog/mounts/mount.ts";
import { SurfaceError } from "../../errors.ts";
import { readAgenticOptions, type AgenticOptions } from "./agentic-options.ts";
import { AgenticSource } from "./agentic-source.ts";
import { toSegment } from "../names.ts";
import { isAgenticService, serviceNameOf, type AgenticService } from "./service-shape.ts";
import type { ServiceRoot } from "./service-tree.ts";
import { isObject } from "../../options/is-object.ts";

/** One service, or several that are shown beside each other: each under its `serviceName`, or under the key that it is given by. */
export type AgenticServices = AgenticService | readonly AgenticService[] | { readonly [name: string]: AgenticService };

/** A service, and its name if there are several. */
type Named = readonly [service: AgenticService, name: string | undefined];

function fail(code: "INVALID_OPTION" | "NAME_COLLISION", problem: string): never {
  throw new SurfaceError(code, `Showing a service: ${problem}`);
}

function isList(services: AgenticServices): services is readonly AgenticService[] {
  return Array.isArray(services);
}

/** Returns the given services, each with its name. */
function toNamed(services: AgenticServices): readonly Named[] {
  if (isList(services)) return Array.from(services, (service) => [service, serviceNameOf(service)]);
  // A service may be a record of functions too, and is one service then.
  if (isAgenticService(services)) return [[services, serviceNameOf(services)]];
  return isObject(services) ? Object.entries(services).map(([name, service]) => [service, name]) : [];
}

/**
 * Returns the names of services, for people and for the name of a server. Never throws for valid services.
 *
 * @throws what the getters of a record throw.
 */
export function namesOf(services: AgenticServices): readonly string[] {
  return toNamed(services).flatMap(([, name]) => (name === undefined ? [] : [name]));
}

/** The services, each under its own name where there are several, or where it was given by one. */
function toRoots(services: AgenticServices): readonly ServiceRoot[] {
  const all = toNamed(services);
  if (all.length === 0 && isObject(services)) fail("INVALID_OPTION", "there must be one at least");
  if (all.length === 0 || !all.every(([service]) => isAgenticService(service))) {
    fail("INVALID_OPTION", "it must have the functions states, actions and execute, and links, where it has any");
  }
  const [first] = all;
  const isAlone = isList(services) ? all.length === 1 : isAgenticService(services);
  if (isAlone && first !== undefined) return [{ service: first[0], keys: [] }];
  const taken = new Map<string, string>();
  return all.map(([service, name]) => {
    if (name === undefined)
      return fail(
        "INVALID_OPTION",
        'where there are several, each must have a "serviceName", or be given by a name, as in { shop, bank }',
      );
    const segment = toSegment(name);
    const other = taken.get(segment);
    if (other !== undefined)
      fail("NAME_COLLISION", `service "${name}" and service "${other}" are both called "${segment}"`);
    taken.set(segment, name);
    return { service, keys: [name] };
  });
}

/**
 * Makes a source of services whose states and actions come and go: mounted in an app, each action is a tool for as long as the
 * service says that it can be carried out, and states and links are shown as the options say. Of several services, each is under its
 * `serviceName`, or under the key by which it is given. Each observable is observed once, from the first app that is opened with it
 * to the last that is closed. Nothing to close.
 *
 * @throws SurfaceError `INVALID_OPTION`; `NAME_COLLISION` where two services have one name.
 * @example
 * ```ts
 * const app = mcp(surface).implement(handlers).mount("game", agenticService(game, { states: "resource", links: true }));
 * ```
 */
export function agenticService(services: AgenticServices, options: AgenticOptions = {}): MountSource {
  const read = readAgenticOptions(options);
  const roots = toRoots(services);
  const names = namesOf(services);
  const source = new AgenticSource(
    roots,
    Object.freeze(read),
    names.length === 0 ? "agentic service" : `service "${names.join('", "')}"`,
  );
  const operations: MountSource = {
    list: () => source.operations(),
    subscribe: (changed) => source.subscribe(changed),
    invoke: (name, input) => source.run(name, input),
  };
  if (read.states !== "resource") return Object.freeze(operations);
  return Object.freeze({
    ...operations,
    resources: () => source.resources(),
    read: (path: string) => source.body(path),
    watch: (path: string, changed: () => void) => source.watch(path, changed),
  });
}
