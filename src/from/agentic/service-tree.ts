import { SurfaceError } from "../../errors.ts";
import { clipText } from "../../schema/visible-text.ts";
import type { WarningLog } from "./warning-log.ts";
import { entriesOf } from "./values.ts";
import { toId } from "../names.ts";
import { partsOf, type ObservedPart, type PartName, type ServiceObservations } from "./service-parts.ts";
import { isAgenticService, serviceNameOf, type AgenticService } from "./service-shape.ts";

/** A mounted service and its name, as a path of keys; `[]` for a single service. */
export interface ServiceRoot {
  readonly service: AgenticService;
  readonly keys: readonly string[];
}

/** A service at one path. A service that several links lead to has a place for each path. */
export interface ServicePlace extends ServiceRoot {
  readonly parts: ServiceObservations;
}

/** A link and its target. */
export interface FoundLink {
  readonly keys: readonly string[];
  readonly target: string | undefined;
  /** Path of the target, if the link leads back to a service on the way to it. */
  readonly cycleTo: readonly string[] | undefined;
}

/** Dependencies of {@link ServiceTree}. */
export interface ServiceTreeDeps {
  readonly roots: readonly ServiceRoot[];
  /** Content of linked services to include. */
  readonly shows: "nothing" | "everything";
  /** Whether to follow links. */
  readonly follows: boolean;
  /** The parts to observe of each place, other than links. */
  readonly parts: readonly PartName[];
  /** Called when a part has a value. Must not throw. */
  readonly changed: (part: PartName) => void;
  readonly complaints: WarningLog;
}

/** Links from a root to a place. */
const maxDepth = 8;
/** Links in a tree. The number of paths grows exponentially with the links between a few services. */
const maxLinks = 1000;
const maxShownBytes = 128;

interface Step extends ServiceRoot {
  readonly depth: number;
  /** The services on the way from the root, each with its path. */
  readonly way: ReadonlyMap<AgenticService, readonly string[]>;
}

/** The observed parts, each with the function that stops it. */
type Observed = ReadonlyMap<ObservedPart, () => void>;

/**
 * The services that can be reached by links. Observes each service once, even if several paths lead to it, and stops when the
 * last path is gone. A path ends at a link back to a service on it.
 */
export class ServiceTree {
  readonly #deps: ServiceTreeDeps;
  #observed: Observed = new Map();
  #next = new Map<ObservedPart, () => void>();
  #joining: ObservedPart | undefined;
  #places: ServicePlace[] = [];
  #links: FoundLink[] = [];

  constructor(deps: ServiceTreeDeps) {
    this.#deps = deps;
  }

  /** The places, a service before its linked services. */
  get places(): readonly ServicePlace[] {
    return this.#places;
  }

  get links(): readonly FoundLink[] {
    return this.#links;
  }

  /** Follows the links again. Never throws. */
  walk(): void {
    const before = this.#observed;
    this.#next = new Map();
    this.#places = [];
    this.#links = [];
    for (const root of this.#deps.roots) {
      this.#visit({ ...root, depth: 0, way: new Map([[root.service, root.keys]]) });
    }
    // A listener has closed the tree during the walk.
    if (this.#observed !== before) return this.#stop(this.#next);
    this.#observed = this.#next;
    // After the walk, so that a service which has only moved stays observed.
    for (const [part, leave] of before) if (!this.#next.has(part)) leave();
  }

  /** Stops all observations. */
  close(): void {
    this.#stop(this.#observed);
  }

  #stop(observed: Observed): void {
    this.#observed = new Map();
    this.#places = [];
    this.#links = [];
    for (const leave of observed.values()) leave();
  }

  #visit(step: Step): void {
    const { service, keys, depth } = step;
    const parts = partsOf(service);
    const isShown = depth === 0 || this.#deps.shows === "everything";
    if (isShown) {
      this.#places.push({ service, keys, parts });
      for (const name of this.#deps.parts) this.#take(parts, name);
    }
    if (!this.#deps.follows) return;
    this.#take(parts, "links");
    const fail = (cause: unknown): void => this.#deps.complaints.add(`links of ${toId(keys)}`, cause);
    for (const [key, target] of entriesOf(parts.links.value, fail)) this.#follow(step, [...keys, key], target);
  }

  #follow({ depth, way }: Step, keys: readonly string[], target: unknown): void {
    if (this.#links.length >= maxLinks)
      return this.#complain(`Cannot follow all links: there are more than ${maxLinks}`);
    if (!isAgenticService(target)) return this.#leaveOut(keys, "a link must lead to a service");
    const cycleTo = way.get(target);
    this.#links.push({ keys, target: serviceNameOf(target), cycleTo });
    if (cycleTo !== undefined) return;
    if (depth >= maxDepth) return this.#leaveOut(keys, `more than ${maxDepth} links lead to it`);
    this.#visit({ service: target, keys, depth: depth + 1, way: new Map(way).set(target, keys) });
  }

  #leaveOut(keys: readonly string[], why: string): void {
    this.#complain(`Cannot follow link "${clipText(toId(keys), maxShownBytes)}": ${why}; it is left out`);
  }

  #complain(message: string): void {
    this.#deps.complaints.add(message, new SurfaceError("INVALID_OPTION", message));
  }

  #take(parts: ServiceObservations, name: PartName): void {
    const part = parts[name];
    if (this.#next.has(part)) return;
    const leave = this.#observed.get(part);
    this.#next.set(part, leave ?? this.#join(part, name));
  }

  #join(part: ObservedPart, name: PartName): () => void {
    const { changed, complaints } = this.#deps;
    const before = this.#joining;
    this.#joining = part;
    try {
      return part.join({
        // The walk reads a value that the part has at once.
        changed: () => this.#joining === part || changed(name),
        fail: (cause) => complaints.tell(cause),
      });
    } finally {
      this.#joining = before;
    }
  }
}
