import { gatewayOrigin, gatewayToolNames } from "../catalog/own-tool-names.ts";
import { SurfaceError } from "../errors.ts";
import { isFunction, isObject } from "../options/is-object.ts";
import { defaultView } from "../surface/caller.ts";
import {
  internalError,
  onRejection,
  reportToConsole,
  runUnawaited,
  toSafeReporter,
  type FaultReporter,
} from "../surface/fault.ts";
import { Listeners } from "../surface/listeners.ts";
import type { Source } from "../surface/source.ts";
import { didYouMean } from "../options/known-names.ts";
import { compileRules, type Decision } from "./compile-rules.ts";
import { readViewRules } from "./read-view-rules.ts";
import type { ViewEntity, ViewPacket, ViewRules, ViewsInput } from "./view-rules.ts";

/** The reason for denying every view while the rules cannot be read. The cause goes to the log only. */
export const unreadableRules = "the view rules cannot be read";

/** Dependencies of {@link Views}. */
export interface ViewsDeps {
  /** The server's name: patterns may put it in front of the name of a tool. */
  readonly server?: string;
  /** The app's own tools: none may have the name of a gateway's tool if a rule shows a gateway. @default none */
  readonly tools?: readonly { readonly name: string; readonly origin: string }[];
  /** Receives the reason if rules of a source cannot be read. @default the console */
  readonly report?: FaultReporter;
}

/** Returns true for a source, which may replace its rules; false for views that have the names of its methods. */
export function isSource(input: ViewsInput | undefined): input is Source<ViewRules> {
  return isObject(input) && isFunction(Reflect.get(input, "get")) && isFunction(Reflect.get(input, "subscribe"));
}

/** The rules in force. */
export interface InstalledViews {
  /** Empty while the rules cannot be read. */
  readonly packets: readonly ViewPacket[];
  /** The reason why the rules cannot be read. */
  readonly unreadable?: string;
  readonly decide: (entity: ViewEntity) => Decision;
}

const denied: Decision = Object.freeze({ verdict: Object.freeze({ kind: "deny", reason: unreadableRules }) });

/** Denies every view, the default view included. */
const unreadable: InstalledViews = Object.freeze({
  packets: Object.freeze([]),
  unreadable: unreadableRules,
  decide: () => denied,
});

/** Returns the first rule that shows a gateway, in words; `undefined` if there is none. */
export function findGateway(packets: readonly ViewPacket[]): string | undefined {
  for (const { id, rules } of packets) {
    const index = rules.findIndex(({ verdict }) => verdict.kind === "tool_surface" && verdict.face === "gateway");
    if (index !== -1) return `rule "${rules[index]?.id ?? index + 1}" of packet "${id}"`;
  }
  return undefined;
}

function install(packets: readonly ViewPacket[], { server, tools = [] }: ViewsDeps): InstalledViews {
  const gateway = findGateway(packets);
  for (const { name, origin } of gateway === undefined ? [] : tools) {
    const taken = gatewayToolNames.find((reserved) => reserved === name);
    if (taken === undefined) continue;
    throw new SurfaceError(
      "NAME_COLLISION",
      `Naming ${origin}: its name on the wire, "${name}", is taken by ${gatewayOrigin(taken)} that ${gateway} shows`,
    );
  }
  return { packets, decide: compileRules(packets, server) };
}

const noValue = Symbol("no value");

/**
 * The compiled rules of an app, which it follows if they come from a source. While the rules of a source cannot be read every view is
 * denied and the reason is reported. Call `close()` when done.
 */
export class Views {
  readonly canChange: boolean;
  #hasTaken = false;
  #installed: InstalledViews = unreadable;
  /** What the source gave last, whatever was made of it. */
  #value: unknown = noValue;
  #stop: (() => unknown) | undefined;
  #isClosed = false;
  readonly #listeners = new Listeners();
  readonly #deps: ViewsDeps;
  readonly #report: FaultReporter;

  /** @throws SurfaceError `INVALID_OPTION` for rules that do not fit and come from no source, `NAME_COLLISION`. */
  constructor(input: ViewsInput | undefined, deps: ViewsDeps = {}) {
    this.#deps = deps;
    this.#report = toSafeReporter(deps.report ?? reportToConsole);
    this.canChange = isSource(input);
    if (isSource(input)) this.#follow(input);
    else this.#installed = install(input === undefined ? [] : readViewRules(input), deps);
  }

  get installed(): InstalledViews {
    return this.#installed;
  }

  /** Decides who sees what: the only place that does. Never throws. */
  decide(entity: ViewEntity): Decision {
    return this.#installed.decide(entity);
  }

  /** Calls `changed` after each change of the rules, at once. Returns a function that stops it. */
  subscribe(changed: () => void): () => void {
    return this.#listeners.add(changed);
  }

  /** Stops following the source of the rules. Callable twice. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#listeners.clear();
    runUnawaited(() => this.#stop?.(), this.#tell);
  }

  readonly #tell = (cause: unknown): void => {
    internalError(cause, "reading the view rules", this.#report);
  };

  #follow(source: Source<ViewRules>): void {
    runUnawaited(() => {
      const stop: unknown = source.subscribe(() => this.#take(source));
      if (typeof stop === "function") this.#stop = () => Reflect.apply(stop, undefined, []);
      this.#take(source);
      if (typeof stop === "function") return;
      onRejection(stop, this.#tell);
      throw new SurfaceError("INVALID_OPTION", "Following view rules: what subscribe() returns must be a function");
    }, this.#tell);
  }

  /** Takes what a source holds now. What cannot be read denies: what held before may be what was to be taken back. */
  #take(source: Source<ViewRules>): void {
    if (this.#isClosed) return;
    let value: unknown = noValue;
    let next: InstalledViews = unreadable;
    try {
      value = source.get();
      if (Object.is(value, this.#value)) return;
      next = install(readViewRules(value), this.#deps);
    } catch (cause) {
      if (value === noValue && this.#value === noValue && this.#hasTaken) return;
      // A promise in the place of rules: its rejection is nobody's else.
      onRejection(value, () => {});
      this.#tell(cause);
    }
    this.#value = value;
    this.#installed = next;
    this.#hasTaken = true;
    this.#listeners.tell(undefined, this.#tell);
  }
}

/**
 * Refuses the name of a view that no rule can match, where a program and not a client chooses the view. Rules that cannot be
 * read yet deny everyone until they can be, so no name is refused then.
 *
 * @param doing - the action of the caller, the start of the message.
 * @throws SurfaceError `INVALID_OPTION` naming views that may have been meant.
 */
export function assertViewName({ installed }: Views, name: string, doing: string): void {
  if (name === defaultView || installed.unreadable !== undefined) return;
  const rules = installed.packets.flatMap((packet) => packet.rules);
  if (rules.some(({ when, verdict }) => when?.surface === undefined && verdict.kind !== "deny")) return;
  const known = [...new Set([defaultView, ...rules.flatMap(({ when }) => when?.surface ?? [])])];
  if (known.includes(name)) return;
  throw new SurfaceError("INVALID_OPTION", `${doing}: there is no view "${name}"${didYouMean(name, known)}`);
}
