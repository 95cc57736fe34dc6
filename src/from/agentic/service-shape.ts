import { isObjectOrFunction } from "../../options/is-object.ts";

/**
 * An observable of a service, called as its method. It calls `notify` with each value, immediately or later, also with equal values.
 * Returns a function that stops the observation.
 */
export type Observe<TValue> = (notify: (value: TValue) => void) => () => void;

/** A state of a service, with its present value. */
export interface AgenticState {
  /** JSON Schema of the values, with the extensions that {@link toJSONSchema} knows. */
  readonly schema: object;
  readonly value: unknown;
}

/**
 * An action that a service offers now. `parameters` has one schema for each argument, `schema` is the schema of a single argument;
 * without both, the action has no input. A text that it returns is the reason why it refused.
 */
export interface AgenticAction {
  readonly description?: string;
  readonly parameters?: readonly object[];
  readonly schema?: object | boolean;
  /** Called directly only for several parameters. Otherwise `execute` of the service runs the action. */
  readonly execute?: (...input: never[]) => unknown;
}

/**
 * A service with states and actions that change at runtime, and links to other services. Services of `@adobe/data` have this shape.
 */
export interface AgenticService {
  readonly serviceName?: string;
  readonly states: Observe<{ readonly [key: string]: AgenticState }>;
  readonly actions: Observe<{ readonly [key: string]: AgenticAction }>;
  /** Runs an action by its key. A text that it returns is the reason why it refused. */
  readonly execute: (action: string, input: unknown) => unknown;
  readonly links?: Observe<{ readonly [key: string]: AgenticService }>;
}

const methods = ["states", "actions", "execute"] as const;

/** Returns whether a value has the methods of a service. Never throws. */
export function isAgenticService(value: unknown): value is AgenticService {
  if (!isObjectOrFunction(value)) return false;
  try {
    const links: unknown = Reflect.get(value, "links");
    if (links !== undefined && typeof links !== "function") return false;
    return methods.every((name) => typeof Reflect.get(value, name) === "function");
  } catch {
    // A getter of the value throws.
    return false;
  }
}

/** Returns the name of a service, if it has one. Never throws. */
export function serviceNameOf(service: AgenticService): string | undefined {
  try {
    const name: unknown = service.serviceName;
    return typeof name === "string" && name !== "" ? name : undefined;
  } catch {
    return undefined;
  }
}
