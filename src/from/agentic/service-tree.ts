import { SurfaceError } from "../../errors.ts";
import { clipText } from "../../schema/visible-text.ts";
import type { Complaints } from "./complaints.ts";
import { entriesOf } from "./values.ts";
import { toId } from "../names.ts";
import { partsOf, type ObservedPart, type PartName, type ServiceParts } from "./service-parts.ts";
import { isAgenticService, serviceNameOf, type AgenticService } from "./service-shape.ts";

/** A service, and under which name it is there; `[]` where it stands alone. */
export interface ServiceRoot {
  readonly service: AgenticService;
  readonly keys: readonly string[];
}

/** One service where it is shown: a service that several links lead to is shown once for each. */
export interface Place extends ServiceRoot {
  readonly parts: ServiceParts;
}

/** A link, and what it leads to. */
export interface FoundLink {
  readonly keys: readonly string[];
  readonly target: string | undefined;
  /** The service on the way to it that it leads back to. */
  readonly cycleTo: readonly string[] | undefined;
}

/** What a tree is made from. */
export interface TreeSetting {
  readonly roots: readonly ServiceRoot[];
  /** What is shown of the services that links lead to. */
  readonly shows: "nothing" | "everything";
  /** Whether links are followed at all. */
  readonly follows: boolean;
  /** What is observed of services that are shown, besides links. */
  readonly parts: readonly PartName[];
  /** Told when a part has said something. Must not throw. */
  readonly changed: (part: PartName) => void;
  readonly complaints: Complaints;
}

/** How many links may lie between a service and what is shown of it. */
const maxDepth = 8;
/** How many links are looked at: with many between few services, there are more ways than anybody can walk. */
const maxLinks = 1000;
const maxShownBytes = 128;

interface Step extends ServiceRoot {
  readonly depth: number;
  /** The services on the way here, each with where it is. */
  readonly way: ReadonlyMap<AgenticService, readonly string[]>;
}

/** What is observed, each with what ends that. */
type Held = ReadonlyMap<ObservedPart, () => void>;

/**
 * What services there are now, from link to link: each one that is shown is observed, once however many ways lead to it, and let
 * go of when none does. A way that leads back to a service which lies on it ends there.
 */
export class ServiceTree {
  readonly #setting: TreeSetting;
  #held: Held = new Map();
  #next = new Map<ObservedPart, () => void>();
  #joining: ObservedPart | undefined;
  #places: Place[] = [];
  #links: FoundLink[] = [];

  constructor(setting: TreeSetting) {
    this.#setting = setting;
  }

  /** Those that are shown, a service before those that it has links to. */
  get places(): readonly Place[] {
    return this.#places;
  }

  get links(): readonly FoundLink[] {
    return this.#links;
  }

  /** Looks where links lead now. Never throws. */
  walk(): void {
    const before = this.#held;
    this.#next = new Map();
    this.#places = [];
    this.#links = [];
    for (const root of this.#setting.roots) {
      this.#visit({ ...root, depth: 0, way: new Map([[root.service, root.keys]]) });
    }
    // Closed by what was joined: nobody is left to observe it for.
    if (this.#held !== before) return this.#letGo(this.#next);
    this.#held = this.#next;
    // Only now: what is still there under another name goes on being observed.
    for (const [part, leave] of before) if (!this.#next.has(part)) leave();
  }

  /** Lets go of everything. */
  close(): void {
    this.#letGo(this.#held);
  }

  #letGo(held: Held): void {
    this.#held = new Map();
    this.#places = [];
    this.#links = [];
    for (const leave of held.values()) leave();
  }

  #visit(step: Step): void {
    const { service, keys, depth } = step;
    const parts = partsOf(service);
    const isShown = depth === 0 || this.#setting.shows === "everything";
    if (isShown) {
      this.#places.push({ service, keys, parts });
      for (const name of this.#setting.parts) this.#take(parts, name);
    }
    if (!this.#setting.follows) return;
    this.#take(parts, "links");
    const fail = (cause: unknown): void => this.#setting.complaints.add(`links of ${toId(keys)}`, cause);
    for (const [key, target] of entriesOf(parts.links.value, fail)) this.#follow(step, [...keys, key], target);
  }

  #follow({ depth, way }: Step, keys: readonly string[], target: unknown): void {
    if (this.#links.length >= maxLinks) return this.#complain(`Following links: there are more than ${maxLinks}`);
    if (!isAgenticService(target)) return this.#leaveOut(keys, "a link must lead to a service");
    const cycleTo = way.get(target);
    this.#links.push({ keys, target: serviceNameOf(target), cycleTo });
    if (cycleTo !== undefined) return;
    if (depth >= maxDepth) return this.#leaveOut(keys, `more than ${maxDepth} links lead to it`);
    this.#visit({ service: target, keys, depth: depth + 1, way: new Map(way).set(target, keys) });
  }

  #leaveOut(keys: readonly string[], why: string): void {
    this.#complain(`Following link "${clipText(toId(keys), maxShownBytes)}": it is left out, since ${why}`);
  }

  #complain(message: string): void {
    this.#setting.complaints.add(message, new SurfaceError("INVALID_OPTION", message));
  }

  #take(parts: ServiceParts, name: PartName): void {
    const part = parts[name];
    if (this.#next.has(part)) return;
    const held = this.#held.get(part);
    this.#next.set(part, held ?? this.#join(part, name));
  }

  #join(part: ObservedPart, name: PartName): () => void {
    const { changed, complaints } = this.#setting;
    const before = this.#joining;
    this.#joining = part;
    try {
      return part.join({
        // What it says at once is looked at when this is over.
        changed: () => this.#joining === part || changed(name),
        fail: (cause) => complaints.tell(cause),
      });
    } finally {
      this.#joining = before;
    }
  }
}
