import { setImmediate } from "node:timers";
import { operationNotFound } from "../../catalog/outcome.ts";
import type { MountedOperation, MountedResource } from "../../catalog/mounts/mount.ts";
import { jsonBody } from "../../catalog/content/resource-body.ts";
import { Refusal } from "../../errors.ts";
import { reportToConsole, toSafeReporter } from "../../surface/fault.ts";
import { Listeners } from "../../surface/listeners.ts";
import { ActionRegistry, type Callable } from "./action-registry.ts";
import type { ReadAgenticOptions } from "./agentic-options.ts";
import { WarningLog } from "./warning-log.ts";
import { isSameValue } from "./values.ts";
import { createLinksTool, createStateTool } from "./source-tools.ts";
import type { PartName } from "./service-parts.ts";
import { ServiceTree, type ServiceRoot } from "./service-tree.ts";
import { StateRegistry, type Seen } from "./state-registry.ts";
import { toStateJson } from "./state-json.ts";

/** Listeners of the state under a path. */
interface Watch {
  readonly listeners: Listeners;
  /** The state's value when the listeners were notified last. */
  value: unknown;
}

/** Operations and resources at one time. */
interface Snapshot {
  readonly callables: ReadonlyMap<string, Callable>;
  readonly operations: readonly MountedOperation[];
  readonly resources: readonly MountedResource[];
}

const nothing: Snapshot = Object.freeze({ callables: new Map(), operations: [], resources: [] });
const noStates: ReadonlyMap<string, Seen> = new Map();

/** Compares two lists as sets: lists are sorted by name later, so the order of a service means nothing. */
function isSameSet(left: readonly unknown[], right: readonly unknown[]): boolean {
  if (left.length !== right.length) return false;
  const known = new Set(left);
  return right.every((item) => known.has(item));
}

/**
 * Services as a source of operations and resources. Observes them from the first subscription or watch to the last. Reads them
 * when the app lists, or after all changes of one turn.
 */
export class AgenticSource {
  readonly #options: ReadAgenticOptions;
  readonly #tree: ServiceTree;
  readonly #actions: ActionRegistry;
  readonly #states: StateRegistry;
  readonly #complaints: Readonly<Record<PartName, WarningLog>>;
  readonly #tools: ReadonlyMap<string, Callable>;
  readonly #listeners = new Listeners();
  readonly #watches = new Map<string, Watch>();
  readonly #stale = new Set<PartName>();
  #users = 0;
  #now = nothing;
  /** The snapshot at the last notification. */
  #told = nothing;
  #seen = noStates;
  /** Whether states have changed since the last notification. */
  #areStatesNew = false;
  #isReading = false;
  /** Whether a read is scheduled. */
  #isDue = false;

  constructor(roots: readonly ServiceRoot[], options: ReadAgenticOptions, where: string) {
    const report = toSafeReporter(options.onFault ?? reportToConsole);
    const complaints = (): WarningLog => new WarningLog(report, where);
    this.#options = options;
    this.#complaints = { actions: complaints(), states: complaints(), links: complaints() };
    const { links, listLinks, states } = options;
    this.#tree = new ServiceTree({
      roots,
      shows: links ? "everything" : "nothing",
      follows: links || listLinks,
      parts: states === "omit" ? ["actions"] : ["actions", "states"],
      changed: (part) => this.#change(part),
      complaints: this.#complaints.links,
    });
    this.#actions = new ActionRegistry(options.describe, this.#complaints.actions);
    this.#states = new StateRegistry(options.describeState, this.#complaints.states);
    this.#tools = this.#createTools();
  }

  /** Returns the operations that are available now. */
  operations(): readonly MountedOperation[] {
    this.#read();
    return this.#now.operations;
  }

  /** Returns the resources that are available now. */
  resources(): readonly MountedResource[] {
    this.#read();
    return this.#now.resources;
  }

  /** Returns the body of the state under a path, now or later; `undefined` if it is absent. */
  body(path: string): unknown {
    this.#read();
    const seen = this.#seen.get(path);
    if (seen === undefined) return undefined;
    const json = toStateJson(seen.value, seen.schema);
    return json instanceof Promise ? json.then(jsonBody) : jsonBody(json);
  }

  subscribe(changed: () => void): () => void {
    const stop = this.#listeners.add(changed);
    return this.#use(stop);
  }

  watch(path: string, changed: () => void): () => void {
    const leave = this.#use(() => {});
    let watch = this.#watches.get(path);
    if (watch === undefined) {
      this.#read();
      watch = { listeners: new Listeners(), value: this.#seen.get(path)?.value };
      this.#watches.set(path, watch);
    }
    const { listeners } = watch;
    const stop = listeners.add(changed);
    return () => {
      stop();
      if (listeners.size === 0 && this.#watches.get(path)?.listeners === listeners) this.#watches.delete(path);
      leave();
    };
  }

  /** Runs an operation. Refuses one that has changed since the last notification: the app validated the input by the old schema. */
  run(name: string, input: unknown): unknown {
    this.#read();
    const callable = this.#now.callables.get(name);
    if (callable === undefined || this.#told.callables.get(name)?.operation !== callable.operation) {
      throw new Refusal(operationNotFound.code, operationNotFound.message);
    }
    return callable.run(input);
  }

  #createTools(): ReadonlyMap<string, Callable> {
    const fail = (cause: unknown): void => this.#complaints.states.tell(cause);
    const tools: Callable[] = [];
    if (this.#options.states === "tool") {
      tools.push(
        createStateTool(() => {
          this.#read();
          return this.#seen;
        }, fail),
      );
    }
    if (this.#options.listLinks) tools.push(createLinksTool(() => this.#tree.links));
    return new Map(tools.map((tool) => [tool.operation.name, tool] as const));
  }

  #use(stop: () => void): () => void {
    this.#users += 1;
    if (this.#users === 1) this.#open();
    let isUsed = true;
    return () => {
      stop();
      if (!isUsed) return;
      isUsed = false;
      this.#users -= 1;
      if (this.#users === 0) this.#close();
    };
  }

  #open(): void {
    this.#stale.add("links");
    this.#read();
    // Opened by a listener during a read: read again after it.
    if (this.#isReading) this.#tellSoon();
    this.#told = this.#now;
    this.#areStatesNew = false;
  }

  #close(): void {
    this.#tree.close();
    this.#actions.end();
    this.#states.end();
    this.#stale.clear();
    this.#now = nothing;
    this.#told = nothing;
    this.#seen = noStates;
  }

  #change(part: PartName): void {
    if (this.#users === 0) return;
    this.#stale.add(part);
    this.#tellSoon();
  }

  #tellSoon(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    const tell = (): void => {
      this.#isDue = false;
      this.#tell();
    };
    // A service that notifies at each read must not starve other work.
    if (this.#isReading) setImmediate(tell);
    else queueMicrotask(tell);
  }

  /** Reads the parts that have notified. Never throws. */
  #read(): void {
    if (this.#stale.size === 0 || this.#isReading || this.#users === 0) return;
    this.#isReading = true;
    const stale = new Set(this.#stale);
    this.#stale.clear();
    try {
      if (stale.has("links")) this.#walk();
      const { places } = this.#tree;
      if (stale.has("links") || stale.has("actions")) this.#readActions(places);
      if (stale.has("links") || stale.has("states")) this.#readStates(places);
    } finally {
      this.#isReading = false;
      // The last listener may have left during the read.
      if (this.#users === 0) this.#close();
    }
  }

  #walk(): void {
    this.#complaints.links.restart();
    this.#tree.walk();
  }

  #readActions(places: ServiceTree["places"]): void {
    this.#complaints.actions.restart();
    const callables = new Map([...this.#tools, ...this.#actions.read(places, this.#tools)]);
    const operations = Array.from(callables.values(), ({ operation }) => operation);
    const isSame = isSameSet(operations, this.#now.operations);
    // Calls reach the newest actions, even if their operations have not changed.
    this.#now = { ...this.#now, callables, operations: isSame ? this.#now.operations : Object.freeze(operations) };
  }

  #readStates(places: ServiceTree["places"]): void {
    const { states } = this.#options;
    if (states === "omit") return;
    this.#areStatesNew = true;
    this.#complaints.states.restart();
    this.#seen = states === "tool" ? this.#states.byName(places) : this.#states.byPath(places);
    if (states === "tool") return;
    const resources = this.#states.resources(this.#seen);
    if (!isSameSet(resources, this.#now.resources)) this.#now = { ...this.#now, resources: Object.freeze(resources) };
  }

  #tell(): void {
    if (this.#users === 0) return;
    this.#read();
    const before = this.#told;
    this.#told = this.#now;
    const { operations, resources } = this.#told;
    const fail = (cause: unknown): void => this.#complaints.links.tell(cause);
    if (!isSameSet(operations, before.operations) || !isSameSet(resources, before.resources)) {
      this.#listeners.tell(undefined, fail);
    }
    if (this.#areStatesNew) this.#tellWatches(fail);
  }

  #tellWatches(fail: (cause: unknown) => void): void {
    this.#areStatesNew = false;
    for (const [path, watch] of [...this.#watches]) {
      const value = this.#seen.get(path)?.value;
      if (isSameValue(watch.value, value)) continue;
      watch.value = value;
      watch.listeners.tell(undefined, fail);
    }
  }
}
