import type { MountSource } from "../../catalog/mounts/mount.ts";
import { SurfaceError } from "../../errors.ts";
import { readAgenticOptions, type AgenticOptions } from "./agentic-options.ts";
import { AgenticSource } from "./agentic-source.ts";
import { toIdSegment } from "../names.ts";
import { isAgenticService, serviceNameOf, type AgenticService } from "./service-shape.ts";
import type { ServiceRoot } from "./service-tree.ts";
import { isObject } from "../../options/is-object.ts";

/** One service; or several, each named by its `serviceName` in a list, or by its key in a record. */
export type AgenticServices = AgenticService | readonly AgenticService[] | { readonly [name: string]: AgenticService };

/** A service, and its name if there are several. */
type Named = readonly [service: AgenticService, name: string | undefined];

function fail(code: "INVALID_OPTION" | "NAME_COLLISION", problem: string): never {
  throw new SurfaceError(code, `Cannot mount a service: ${problem}`);
}

function isList(services: AgenticServices): services is readonly AgenticService[] {
  return Array.isArray(services);
}

/** Returns the given services, each with its name. */
function toNamed(services: AgenticServices): readonly Named[] {
  if (isList(services)) return Array.from(services, (service) => [service, serviceNameOf(service)]);
  // A service is an object of functions, so test it before a record of services.
  if (isAgenticService(services)) return [[services, serviceNameOf(services)]];
  return isObject(services) ? Object.entries(services).map(([name, service]) => [service, name]) : [];
}

/**
 * Returns the names of services, for messages and the name of a server.
 *
 * @throws the errors of getters of a record.
 */
export function namesOf(services: AgenticServices): readonly string[] {
  return toNamed(services).flatMap(([, name]) => (name === undefined ? [] : [name]));
}

/** Returns each service with its name. A single service that is not in a record has none. */
function toRoots(services: AgenticServices): readonly ServiceRoot[] {
  const all = toNamed(services);
  if (all.length === 0 && isObject(services)) fail("INVALID_OPTION", "pass at least one");
  if (all.length === 0 || !all.every(([service]) => isAgenticService(service))) {
    fail("INVALID_OPTION", "it must have the functions states, actions and execute; links is optional");
  }
  const [first] = all;
  const isAlone = isList(services) ? all.length === 1 : isAgenticService(services);
  if (isAlone && first !== undefined) return [{ service: first[0], keys: [] }];
  const taken = new Map<string, string>();
  return all.map(([service, name]) => {
    if (name === undefined)
      return fail(
        "INVALID_OPTION",
        'each of several must have a "serviceName"; or pass a record, such as { shop, bank }',
      );
    const segment = toIdSegment(name);
    const other = taken.get(segment);
    if (other !== undefined)
      fail("NAME_COLLISION", `service "${name}" and service "${other}" both have the name "${segment}"`);
    taken.set(segment, name);
    return { service, keys: [name] };
  });
}

/**
 * Creates a mount source of services whose states and actions change at runtime. Each action is a tool while its service lists it.
 * The options decide how states and links appear. With several services, names begin with the `serviceName` or the key in the record.
 * All apps share one subscription to each observable, which ends with the last app. Nothing to close.
 *
 * @throws SurfaceError `INVALID_OPTION`; `NAME_COLLISION` if two services have the same name.
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
