import { defaultView, type Caller } from "../surface/caller.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { Clock } from "../spine/clock.ts";
import { Throttle } from "../spine/throttle.ts";
import { systemClock } from "../surface/system-clock.ts";
import type { Decision, Views } from "../views/decision.ts";
import { toEntity } from "../views/to-entity.ts";
import type { FaceLists } from "./face-lists.ts";
import type { Face, Faces, ListName, ShownChange } from "./faces.ts";
import { ListWatches } from "./list-watches.ts";
import { rpcCodes, toRpcError, type RpcError } from "./protocol.ts";
import { ViewSlot, type Admitting, type SlotSetting } from "./view-slot.ts";

/** What faces are made of. */
export interface FacesSetting extends SlotSetting {
  readonly views: Views;
  readonly lists: FaceLists;
  /** The shortest time between two notices that a list has changed, in milliseconds. */
  readonly windowMs: number;
  /** Default: this machine's. */
  readonly clock?: Clock;
}

/** How many faces are kept. There is one a rule; rules may be many. */
const maxSlots = 64;

function isAdmitting(decision: Decision): decision is Admitting {
  return decision.verdict.kind === "tool_surface";
}

/** The answer to whatever is asked by a view that lets nobody in. */
function toDenial({ verdict }: Decision): RpcError {
  const reason = verdict.kind === "deny" ? verdict.reason : "";
  return toRpcError(rpcCodes.internal, `tool surface denied: ${reason}`);
}

/** The lists that can ever be others than they are now. Prompts change only as views do. */
function changingOf({ live, views }: FacesSetting): ReadonlySet<ListName> {
  const { prompts, resources, templates } = live.current;
  const changing = new Set<ListName>();
  if (views.canChange || live.canChange) changing.add("tools");
  if (views.canChange && prompts.length > 0) changing.add("prompts");
  const isRead = resources.length + templates.length > 0;
  if (live.canReadOthers || (views.canChange && isRead)) changing.add("resources");
  return changing;
}

/** Whether the default view can never be another than it is, nor be decided about by anything. */
function isConstant({ live, views }: FacesSetting): boolean {
  const { installed } = views;
  const isRuled = installed.kind !== "packets" || installed.packets.length > 0;
  return !isRuled && !views.canChange && !live.canChange;
}

class ViewFaces implements Faces {
  readonly changing: ReadonlySet<ListName>;
  readonly #setting: FacesSetting;
  readonly #lists: ListWatches;
  readonly #listeners = new Set<(what: ShownChange) => void>();
  readonly #throttle: Throttle;
  /** The resources that there were when somebody was told of them last. */
  #resources: Catalog["resources"] | undefined;
  readonly #stops: readonly (() => void)[];
  #generation: number;
  /** Those used least recently first, as soon as there are many. */
  #slots = new Map<Decision, ViewSlot>();
  /** Those of the rules before, by what they said: where the new ones say the same, nothing has changed. */
  #former = new Map<string, ViewSlot>();
  #denials = new WeakMap<Decision, RpcError>();
  /** Whether there is one face for all who come by the default view; and that, once it is made. */
  readonly #isConstant: boolean;
  #constant: Face | RpcError | undefined;

  constructor(setting: FacesSetting) {
    this.#setting = setting;
    const { live, views, lists, windowMs, clock = systemClock } = setting;
    this.#generation = views.generation;
    this.changing = changingOf(setting);
    this.#isConstant = isConstant(setting);
    const look = (list: ListName, caller: Caller): string | undefined => {
      const listed = this.#listedFor(caller);
      return listed && lists.digestOf(list, listed);
    };
    this.#lists = new ListWatches({ look, windowMs, clock });
    this.#throttle = new Throttle({ clock, windowMs, fire: () => this.#onResources() });
    this.#stops = [
      ...(live.canChange ? [live.subscribe(() => this.#onMounted())] : []),
      ...(views.canChange ? [views.subscribe(() => this.#onRules())] : []),
    ];
  }

  // Several times a request: where nobody is told apart, nobody is looked at.
  of(caller: Caller): Face | RpcError {
    const isPlain = this.#isConstant && (caller.view === undefined || caller.view.surface === defaultView);
    if (!isPlain) return this.#decide(caller);
    this.#constant ??= this.#decide(caller);
    return this.#constant;
  }

  watchList(list: ListName, caller: Caller, changed: () => void): () => void {
    return this.changing.has(list) ? this.#lists.watch(list, caller, changed) : () => {};
  }

  subscribe(changed: (what: ShownChange) => void): () => void {
    const { views, live } = this.#setting;
    if (!views.canChange && !live.canReadOthers) return () => {};
    // Whoever comes first has seen what there is now.
    if (this.#listeners.size === 0) this.#resources = live.current.resources;
    // One of its own, so that subscribing one function twice gives two subscriptions.
    const listener = (what: ShownChange): void => changed(what);
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  close(): void {
    for (const stop of this.#stops) stop();
    this.#lists.close();
    this.#throttle.dispose();
    this.#listeners.clear();
    this.#slots.clear();
    this.#former.clear();
  }

  #decide(caller: Caller): Face | RpcError {
    const decision = this.#setting.views.decide(toEntity(caller));
    if (isAdmitting(decision)) return this.#slotOf(decision).face;
    const denial = this.#denials.get(decision) ?? toDenial(decision);
    this.#denials.set(decision, denial);
    return denial;
  }

  #listedFor(caller: Caller): Catalog | undefined {
    const face = this.of(caller);
    return "kind" in face ? undefined : face.listedFor(caller);
  }

  #behind(caller: Caller): Catalog | undefined {
    const face = this.of(caller);
    return "kind" in face ? undefined : face.behind;
  }

  #onRules(): void {
    this.#tell("rules");
    this.#lists.touch();
  }

  #onMounted(): void {
    this.#lists.touch();
    if (this.#setting.live.canReadOthers && this.#listeners.size > 0) this.#throttle.touch();
  }

  #onResources(): void {
    const { resources } = this.#setting.live.current;
    if (resources === this.#resources) return;
    this.#resources = resources;
    this.#tell("resources");
  }

  #tell(what: ShownChange): void {
    for (const listener of [...this.#listeners]) if (this.#listeners.has(listener)) listener(what);
  }

  #slotOf(decision: Admitting): ViewSlot {
    if (this.#generation !== this.#setting.views.generation) this.#turn();
    const known = this.#slots.get(decision);
    if (known !== undefined) return this.#keep(decision, known);
    const slot = this.#takeFormer(decision) ?? new ViewSlot(this.#setting, decision, (caller) => this.#behind(caller));
    this.#slots.set(decision, slot);
    const [oldest] = this.#slots.keys();
    if (this.#slots.size > maxSlots && oldest !== undefined) this.#slots.delete(oldest);
    return slot;
  }

  /** Only where there are many is one that is used put behind the others: every request comes here. */
  #keep(decision: Admitting, slot: ViewSlot): ViewSlot {
    if (this.#slots.size <= maxSlots / 2) return slot;
    this.#slots.delete(decision);
    this.#slots.set(decision, slot);
    return slot;
  }

  /** The rules are others. */
  #turn(): void {
    this.#generation = this.#setting.views.generation;
    this.#former = new Map([...this.#slots].map(([{ verdict }, slot]) => [JSON.stringify(verdict), slot]));
    this.#slots = new Map();
  }

  #takeFormer(decision: Admitting): ViewSlot | undefined {
    const key = JSON.stringify(decision.verdict);
    const former = this.#former.get(key);
    this.#former.delete(key);
    former?.adopt(decision);
    return former;
  }
}

/** Makes what says for each caller what they are shown now, by the rules as they are now. Whoever made it closes it. */
export function createFaces(setting: FacesSetting): Faces {
  return new ViewFaces(setting);
}
