import type { MountSource } from "../../../src/catalog/mounts/mount.ts";
import { toResourceContent } from "../../../src/catalog/content/resource-body.ts";
import { agenticService, type AgenticServices } from "../../../src/from/agentic/agentic-service.ts";
import type { AgenticOptions } from "../../../src/from/agentic/agentic-options.ts";
import type { AgenticAction, AgenticService, AgenticState, Observe } from "../../../src/from/agentic/service-shape.ts";
import type { Fault } from "../../../src/surface/fault.ts";
import { context } from "../../catalog/mounts/mount-support.ts";

/** Something that is told to whoever observes it, and knows how many do. */
export class Told<TValue> {
  /** How often it was observed, and how often that was ended. */
  opened = 0;
  ended = 0;
  readonly #notify = new Set<(value: TValue) => void>();
  #last: { readonly value: TValue } | undefined;

  /** Told at once when it is observed; nothing where it is left out. */
  constructor(...[first]: [first?: TValue]) {
    this.#last = first === undefined ? undefined : { value: first };
  }

  readonly observe: Observe<TValue> = (notify) => {
    this.opened += 1;
    this.#notify.add(notify);
    if (this.#last !== undefined) notify(this.#last.value);
    return () => {
      this.ended += 1;
      this.#notify.delete(notify);
    };
  };

  get value(): TValue | undefined {
    return this.#last?.value;
  }

  tell(value: TValue): void {
    this.#last = { value };
    for (const notify of [...this.#notify]) notify(value);
  }
}

export type Actions = Readonly<Record<string, AgenticAction>>;
export type States = Readonly<Record<string, AgenticState>>;
export type Links = Readonly<Record<string, AgenticService>>;

/** A service whose parts a test tells, and what was executed of it. */
export interface Staged {
  readonly service: AgenticService;
  readonly actions: Told<Actions>;
  readonly states: Told<States>;
  readonly links: Told<Links>;
  readonly ran: (readonly [action: string, input: unknown])[];
}

/** What a service begins with. What is left out has not spoken yet; without links there is no such part. */
export interface Begin {
  readonly name?: string;
  readonly actions?: Actions;
  readonly states?: States;
  readonly links?: Links;
  readonly execute?: AgenticService["execute"];
}

/** Stages a service. Its actions answer what `execute` does, and nothing without one. */
export function stage({ name = "game", execute, ...first }: Begin = {}): Staged {
  const actions = new Told<Actions>(...(first.actions === undefined ? [] : ([first.actions] as const)));
  const states = new Told<States>(...(first.states === undefined ? [] : ([first.states] as const)));
  const links = new Told<Links>(...(first.links === undefined ? [] : ([first.links] as const)));
  const ran: (readonly [string, unknown])[] = [];
  const service: AgenticService = {
    serviceName: name,
    actions: actions.observe,
    states: states.observe,
    ...(first.links === undefined ? {} : { links: links.observe }),
    execute: (action, input) => {
      ran.push([action, input]);
      return execute?.(action, input);
    },
  };
  return { service, actions, states, links, ran };
}

/** An action without parameters. */
export function act(description = "does it"): AgenticAction {
  return { description, parameters: [], execute: () => undefined };
}

/** A state of any value. */
export function state(value: unknown, schema: object = {}): AgenticState {
  return { schema, value };
}

/** A source, and what came of it. */
export interface Shown {
  readonly source: MountSource;
  readonly faults: Fault[];
  readonly messages: () => readonly string[];
  readonly names: () => readonly string[];
  readonly paths: () => readonly string[];
  readonly invoke: (name: string, input?: unknown) => unknown;
  /** How often it told that it has changed, once it was subscribed to. */
  readonly changes: () => number;
  readonly stop: () => void;
}

/** Shows services to one who subscribes. */
export function show(services: AgenticServices, options: AgenticOptions = {}): Shown {
  const faults: Fault[] = [];
  const source = agenticService(services, { onFault: (fault) => void faults.push(fault), ...options });
  let changes = 0;
  const stop = source.subscribe(() => (changes += 1));
  return {
    source,
    faults,
    messages: () => faults.map(({ cause }) => (cause instanceof Error ? cause.message : String(cause))),
    names: () => source.list().map(({ name }) => name),
    paths: () => source.resources?.().map(({ path }) => path) ?? [],
    invoke: (name, input) => source.invoke(name, input, context),
    changes: () => changes,
    stop,
  };
}

/** Reads a state as a client does; later only if the state has to be waited for. */
export function readState({ source }: Shown, path: string): unknown {
  const parse = (value: unknown): unknown => {
    const content = toResourceContent(value, undefined);
    return typeof content === "string" ? JSON.parse(content) : content;
  };
  const value = source.read?.(path, context);
  return value instanceof Promise ? value.then(parse) : parse(value);
}

/** Until all that is due now has been done, and what that made due. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
}
