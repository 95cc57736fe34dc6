import type { MountSource } from "../../catalog/mount.ts";
import { SurfaceError } from "../../errors.ts";
import { assertAgenticOptions, type AgenticOptions } from "./agentic-options.ts";
import { AgenticSource } from "./agentic-source.ts";
import { toSegment } from "./names.ts";
import { isAgenticService, serviceNameOf, type AgenticService } from "./service-shape.ts";
import type { ServiceRoot } from "./service-tree.ts";

/** One service, or several that are shown beside each other. */
export type AgenticServices = AgenticService | readonly AgenticService[];

function fail(code: "INVALID_OPTION" | "NAME_COLLISION", problem: string): never {
  throw new SurfaceError(code, `Showing a service: ${problem}`);
}

function isList(services: AgenticServices): services is readonly AgenticService[] {
  return Array.isArray(services);
}

/** The services, each under its own name where there are several. */
function toRoots(services: AgenticServices): readonly ServiceRoot[] {
  const all = isList(services) ? Array.from(services) : [services];
  if (all.length === 0) fail("INVALID_OPTION", "there must be one at least");
  if (!all.every(isAgenticService)) {
    fail("INVALID_OPTION", "it must have the functions states, actions and execute, and links, where it has any");
  }
  const [first] = all;
  if (all.length === 1 && first !== undefined) return [{ service: first, keys: [] }];
  const taken = new Map<string, string>();
  return all.map((service) => {
    const name = serviceNameOf(service);
    if (name === undefined) return fail("INVALID_OPTION", 'where there are several, each must have a "serviceName"');
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
 * `serviceName`. Each observable is observed once, from the first app that is opened with it to the last that is closed. Nothing
 * to close.
 *
 * @throws SurfaceError `INVALID_OPTION`; `NAME_COLLISION` where two services have one name.
 * @example
 * ```ts
 * const app = mcp(surface).implement(handlers).mount("game", agenticService(game, { states: "resource", links: true }));
 * ```
 */
export function agenticService(services: AgenticServices, options: AgenticOptions = {}): MountSource {
  assertAgenticOptions(options);
  const roots = toRoots(services);
  const names = roots.map(({ service }) => serviceNameOf(service) ?? "agentic service");
  const source = new AgenticSource(roots, Object.freeze({ ...options }), `service "${names.join('", "')}"`);
  const operations: MountSource = {
    list: () => source.operations(),
    subscribe: (changed) => source.subscribe(changed),
    invoke: (name, input) => source.run(name, input),
  };
  if (options.states !== "resource") return Object.freeze(operations);
  return Object.freeze({
    ...operations,
    resources: () => source.resources(),
    read: (path: string) => source.value(path),
    watch: (path: string, changed: () => void) => source.watch(path, changed),
  });
}
