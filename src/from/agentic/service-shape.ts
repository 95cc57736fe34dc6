import { isObjectOrFunction } from "../../options/is-object.ts";
/**
 * Tells a value: at once, later, again with an equal one, or never. What it returns stops that. It is called as a method of the
 * service that it belongs to.
 */
export type Observe<TValue> = (notify: (value: TValue) => void) => () => void;

/** What can be seen of a service just now. */
export interface AgenticState {
  /** What its values are like, as JSON Schema says it, with the extensions that {@link toJSONSchema} knows. */
  readonly schema: object;
  readonly value: unknown;
}

/**
 * What can be done just now: with what `parameters` say, one schema each, or with what `schema` says; with nothing where there is
 * neither. A text that it answers says why it was not done.
 */
export interface AgenticAction {
  readonly description?: string;
  readonly parameters?: readonly object[];
  readonly schema?: object | boolean;
  /** Run by us only where there are several parameters; else the service's own `execute` runs it. */
  readonly execute?: (...input: never[]) => unknown;
}

/**
 * What has states and actions that come and go, and links to others of its kind. Any object of this shape is one: those of
 * `@adobe/data` are.
 */
export interface AgenticService {
  readonly serviceName?: string;
  readonly states: Observe<{ readonly [key: string]: AgenticState }>;
  readonly actions: Observe<{ readonly [key: string]: AgenticAction }>;
  /** Carries out an action by its key. A text that it answers says why that was not done. */
  readonly execute: (action: string, input: unknown) => unknown;
  readonly links?: Observe<{ readonly [key: string]: AgenticService }>;
}

const asks = ["states", "actions", "execute"] as const;

/** Whether a value has the methods of a service. Never throws. */
export function isAgenticService(value: unknown): value is AgenticService {
  if (!isObjectOrFunction(value)) return false;
  try {
    const links: unknown = Reflect.get(value, "links");
    if (links !== undefined && typeof links !== "function") return false;
    return asks.every((name) => typeof Reflect.get(value, name) === "function");
  } catch {
    // A getter of what was given.
    return false;
  }
}

/** How a service calls itself; `undefined` where it does not. Never throws. */
export function serviceNameOf(service: AgenticService): string | undefined {
  try {
    const name: unknown = service.serviceName;
    return typeof name === "string" && name !== "" ? name : undefined;
  } catch {
    return undefined;
  }
}
