import { SurfaceError } from "../errors.ts";
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
import { assertNoGatewayCollision, type NamedTool } from "./assert-no-gateway-collision.ts";
import { compileRules, readField, type CompiledRules } from "./compile-rules.ts";
import type { Decision, InstalledViews, Views } from "./decision.ts";
import { readViewRules } from "./read-view-rules.ts";
import type { ViewEntity, ViewPacket } from "./view-rules.ts";
import type { ViewRules, ViewsInput } from "./views-input.ts";

/** How many decisions are remembered: what they are about is what callers say. */
const maxRemembered = 64;

/** What is told of rules that cannot be had. Nothing of why: that is for whoever reads the log. */
export const unreadableRules = "the view rules cannot be read";

const where = "reading the view rules";

/** What views are made with besides their rules. */
export interface ViewsSetting {
  /** How the server names itself: patterns may spell a tool with it. */
  readonly server?: string;
  /** The tools of the app: a view with a gateway has no room for one that is called as one of its four. Default: none. */
  readonly tools?: readonly NamedTool[];
  /** Told why rules that were put in the place of others cannot be read. Default: the console. */
  readonly report?: FaultReporter;
}

/** Whether rules may be replaced while they are in force. */
function isSource(input: ViewsInput | undefined): input is Source<ViewRules> {
  if (typeof input !== "object" || input === null) return false;
  return (
    "get" in input && typeof input.get === "function" && "subscribe" in input && typeof input.subscribe === "function"
  );
}

/** What is in force, and what was made of it. */
interface Installed {
  readonly views: InstalledViews;
  readonly rules: CompiledRules;
}

const denied: Decision = Object.freeze({ verdict: Object.freeze({ kind: "deny", reason: unreadableRules }) });

/** Nobody gets in, by the default view neither. */
const unreadable: Installed = Object.freeze({
  views: Object.freeze({ kind: "unreadable", reason: unreadableRules }),
  rules: Object.freeze({ fields: Object.freeze([]), decide: () => denied }),
});

function install(packets: readonly ViewPacket[], { server, tools = [] }: ViewsSetting): Installed {
  assertNoGatewayCollision(packets, tools);
  return { views: Object.freeze({ kind: "packets", packets }), rules: compileRules(packets, server) };
}

/** All of an entity that matters to some rules, as a text. */
function toKey(entity: ViewEntity, { fields }: CompiledRules): string {
  const [only, ...more] = fields;
  if (only === undefined) return "";
  // Most rules ask for the view alone.
  if (more.length === 0) return readField(entity, only) ?? "";
  return JSON.stringify(fields.map((field) => readField(entity, field) ?? null));
}

/** What stands for the value of a source that gave none. */
const noValue = Symbol("no value");

class CompiledViews implements Views {
  readonly canChange: boolean;
  #generation = 0;
  #installed = unreadable;
  /** What the source gave last, whatever was made of it. */
  #value: unknown = noValue;
  #remembered = new Map<string, Decision>();
  #stop: (() => unknown) | undefined;
  #isClosed = false;
  readonly #listeners = new Listeners();
  readonly #setting: ViewsSetting;
  readonly #report: FaultReporter;

  constructor(input: ViewsInput | undefined, setting: ViewsSetting) {
    this.#setting = setting;
    this.#report = toSafeReporter(setting.report ?? reportToConsole);
    this.canChange = isSource(input);
    if (isSource(input)) this.#follow(input);
    else this.#installed = install(input === undefined ? [] : readViewRules(input), setting);
  }

  get generation(): number {
    return this.#generation;
  }

  get installed(): InstalledViews {
    return this.#installed.views;
  }

  decide(entity: ViewEntity): Decision {
    const { rules } = this.#installed;
    const key = toKey(entity, rules);
    const known = this.#remembered.get(key);
    if (known !== undefined) return known;
    const decision = rules.decide(entity);
    if (this.#remembered.size >= maxRemembered) this.#forgetOldest();
    this.#remembered.set(key, decision);
    return decision;
  }

  subscribe(changed: () => void): () => void {
    return this.#listeners.add(changed);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#listeners.clear();
    this.#guard(() => this.#stop?.());
  }

  #forgetOldest(): void {
    const [oldest] = this.#remembered.keys();
    if (oldest !== undefined) this.#remembered.delete(oldest);
  }

  /** Runs code of somebody else, whose faults are nobody's but the log's. */
  #guard(run: () => unknown): void {
    runUnawaited(run, (cause) => this.#tell(cause));
  }

  #tell(cause: unknown): void {
    internalError(cause, where, this.#report);
  }

  #follow(source: Source<ViewRules>): void {
    this.#guard(() => {
      const stop: unknown = source.subscribe(() => this.#take(source));
      if (typeof stop === "function") this.#stop = () => Reflect.apply(stop, undefined, []);
      this.#take(source);
      if (typeof stop === "function") return;
      onRejection(stop, (cause) => this.#tell(cause));
      throw new SurfaceError("INVALID_OPTION", "Following view rules: what subscribe() returns must be a function");
    });
  }

  /** Takes what a source holds now. What cannot be read denies: what held before may be what was to be taken back. */
  #take(source: Source<ViewRules>): void {
    if (this.#isClosed) return;
    let value: unknown = noValue;
    let next = unreadable;
    try {
      value = source.get();
      if (Object.is(value, this.#value)) return;
      next = install(readViewRules(value), this.#setting);
    } catch (cause) {
      if (value === noValue && this.#value === noValue && this.#generation > 0) return;
      // A promise in the place of rules: its rejection is nobody's else.
      onRejection(value, () => {});
      this.#tell(cause);
    }
    this.#value = value;
    this.#replace(next);
  }

  #replace(next: Installed): void {
    this.#installed = next;
    this.#generation++;
    this.#remembered = new Map();
    this.#listeners.tell(undefined, (cause) => this.#tell(cause));
  }
}

/**
 * Makes the rules of an app ready to be asked, once and for all or as long as its source has others. Rules of a source that cannot
 * be read, or do not fit, let nobody in, and are reported. Whoever made them closes them.
 *
 * @throws SurfaceError `INVALID_OPTION` for rules that do not fit and come from no source, `NAME_COLLISION`.
 */
export function createViews(input: ViewsInput | undefined, setting: ViewsSetting = {}): Views {
  return new CompiledViews(input, setting);
}
