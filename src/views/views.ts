import type { Bus } from "../cluster/cluster.ts";
import { gatewayOrigin, gatewayToolNames } from "../catalog/wire-name.ts";
import { SurfaceError } from "../errors.ts";
import { isFunction, isObject } from "../options/is-object.ts";
import { defaultView } from "../surface/caller.ts";
import {
  internalError,
  handleRejection,
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

/** The reason for denying every view while the rules cannot be read. Only the log has the cause. */
export const unreadableRules = "the view rules cannot be read";

/** Dependencies of {@link Views}. */
export interface ViewsDeps {
  /** The server's name, which patterns may put in front of a tool's name. */
  readonly server?: string;
  /** The app's tools. If a rule shows a gateway, none may have the name of a gateway's tool. @default none */
  readonly tools?: readonly { readonly name: string; readonly origin: string }[];
  /** Receives the reason if the rules of a source cannot be read. @default the console */
  readonly report?: FaultReporter;
}

/** Returns true for a source of rules, and false for views named `get` and `subscribe`. */
export function isRulesSource(input: ViewsInput | undefined): input is Source<ViewRules> {
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

/** Returns the name of the first rule that shows a gateway, for messages; `undefined` without such a rule. */
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
      `Cannot name ${origin}: the wire name "${name}" is taken by ${gatewayOrigin(taken)} that ${gateway} shows; rename it`,
    );
  }
  return { packets, decide: compileRules(packets, server) };
}

const noValue = Symbol("no value");

/** The topic of the bus. */
const rulesTopic = "rules";

/**
 * The compiled rules of an app. Follows the source of the rules, if any; while it cannot be read, every view is denied. Call `close()`
 * when done.
 */
export class Views {
  readonly canChange: boolean;
  #hasRead = false;
  #installed: InstalledViews = unreadable;
  /** The last value of the source, valid or not. */
  #value: unknown = noValue;
  #stop: (() => unknown) | undefined;
  #isClosed = false;
  readonly #listeners = new Listeners();
  readonly #source: Source<ViewRules> | undefined;
  readonly #deps: ViewsDeps;
  readonly #report: FaultReporter;

  /** @throws SurfaceError `INVALID_OPTION` for malformed rules, unless they come from a source; `NAME_COLLISION`. */
  constructor(input: ViewsInput | undefined, deps: ViewsDeps = {}) {
    this.#deps = deps;
    this.#report = toSafeReporter(deps.report ?? reportToConsole);
    this.#source = isRulesSource(input) ? input : undefined;
    this.canChange = this.#source !== undefined;
    if (isRulesSource(input)) this.#follow(input);
    else this.#installed = install(input === undefined ? [] : readViewRules(input), deps);
  }

  get installed(): InstalledViews {
    return this.#installed;
  }

  /** Decides which entries an entity sees. Nothing else does. Never throws. */
  decide(entity: ViewEntity): Decision {
    return this.#installed.decide(entity);
  }

  /** Calls `changed` synchronously after each change of the rules. Returns a function that stops it. */
  subscribe(changed: () => void): () => void {
    return this.#listeners.add(changed);
  }

  /**
   * Tells other replicas when the source of the rules has changed, and reads it again when they tell. Returns a function that ends it;
   * callable twice.
   */
  share(bus: Bus): () => void {
    const source = this.#source;
    if (source === undefined) return () => {};
    // Rules that are read because of another replica are known to the others.
    let isTold = false;
    const readAgain = (): void => {
      isTold = true;
      this.#read(source);
      isTold = false;
    };
    const stop = this.subscribe(() => {
      if (!isTold) bus.publish(rulesTopic, "");
    });
    const leave = bus.subscribe(rulesTopic, { message: readAgain, gap: readAgain });
    return () => {
      stop();
      leave();
    };
  }

  /** Stops following the source of the rules. Callable twice. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#listeners.clear();
    runUnawaited(() => this.#stop?.(), this.#reportFault);
  }

  readonly #reportFault = (cause: unknown): void => {
    internalError(cause, "reading the view rules", this.#report);
  };

  #follow(source: Source<ViewRules>): void {
    runUnawaited(() => {
      const stop: unknown = source.subscribe(() => this.#read(source));
      if (typeof stop === "function") this.#stop = () => Reflect.apply(stop, undefined, []);
      this.#read(source);
      if (typeof stop === "function") return;
      handleRejection(stop, this.#reportFault);
      throw new SurfaceError("INVALID_OPTION", "Cannot follow view rules: subscribe() must return a function");
    }, this.#reportFault);
  }

  /** Installs the value of the source. Denies all views if it cannot be read: the new rules may revoke what the old ones allow. */
  #read(source: Source<ViewRules>): void {
    if (this.#isClosed) return;
    let value: unknown = noValue;
    let next: InstalledViews = unreadable;
    try {
      value = source.get();
      if (Object.is(value, this.#value)) return;
      next = install(readViewRules(value), this.#deps);
    } catch (cause) {
      if (value === noValue && this.#value === noValue && this.#hasRead) return;
      // A promise in the place of rules may reject later.
      handleRejection(value, () => {});
      this.#reportFault(cause);
    }
    this.#value = value;
    this.#installed = next;
    this.#hasRead = true;
    this.#listeners.tell(undefined, this.#reportFault);
  }
}

/**
 * Refuses the name of a view that no rule can match, if a program chooses the view. Accepts any name while the rules cannot be read.
 *
 * @param doing - the start of the message.
 * @throws SurfaceError `INVALID_OPTION` with similar names.
 */
export function assertViewName({ installed }: Views, name: string, doing: string): void {
  if (name === defaultView || installed.unreadable !== undefined) return;
  const rules = installed.packets.flatMap((packet) => packet.rules);
  if (rules.some(({ when, verdict }) => when?.surface === undefined && verdict.kind !== "deny")) return;
  const known = [...new Set([defaultView, ...rules.flatMap(({ when }) => when?.surface ?? [])])];
  if (known.includes(name)) return;
  throw new SurfaceError("INVALID_OPTION", `${doing}: there is no view "${name}"${didYouMean(name, known)}`);
}
