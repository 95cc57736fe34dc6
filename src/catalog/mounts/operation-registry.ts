import { SurfaceError } from "../../errors.ts";
import { callable, flag, withDefault } from "../../options/option.ts";
import { readOptions } from "../../options/read-options.ts";
import type { JsonSchema, JsonValue } from "../../schema/json.ts";
import type { InferInput, InferOutput, Schema } from "../../schema/standard.ts";
import { internalError, reportToConsole } from "../../surface/fault.ts";
import { Listeners } from "../../surface/listeners.ts";
import type { Confirm } from "../../tags/tool-options.ts";
import type { ListDiff } from "../list-changes.ts";
import { createNotFound } from "../outcome.ts";
import { toWireName } from "../wire-name.ts";
import {
  kSubscribeDiffs,
  operationOrigin,
  type DiffingSource,
  type MountContext,
  type MountedOperation,
  type MountedSchema,
  type MountSource,
} from "./mount.ts";
import { readOperation, toMountedSchemas } from "./read-mounted.ts";

/** An operation to register. Its schemas type the input and the result of its handler. */
export type OperationDefinition<TInput extends MountedSchema, TOutput extends MountedSchema> = Omit<
  MountedOperation,
  "inputSchema" | "outputSchema" | "confirm"
> & {
  /** Asks the user before each call; as the option of tools of this name. */
  readonly confirm?: Confirm<OperationInput<TInput>>;
  readonly inputSchema?: TInput;
  readonly outputSchema?: TOutput;
};

/** Input of a handler: the output of a Standard Schema, JSON for a JSON Schema, `undefined` without a schema. */
export type OperationInput<TInput> = [Extract<TInput, Schema>] extends [never]
  ? [Extract<TInput, JsonSchema>] extends [never]
    ? undefined
    : JsonValue
  : InferOutput<Extract<TInput, Schema>>;

/** Result of a handler, now or later: the input of a Standard Schema, else unchecked. */
export type OperationAnswer<TOutput> = [Extract<TOutput, Schema>] extends [never]
  ? unknown
  : InferInput<Extract<TOutput, Schema>> | PromiseLike<InferInput<Extract<TOutput, Schema>>>;

/** The handler of an operation. */
export type OperationHandler<TInput, TOutput> = (
  input: OperationInput<TInput>,
  context: MountContext,
) => OperationAnswer<TOutput>;

/** Options of {@link OperationRegistry.register}. */
export interface RegisterOptions {
  /** Replaces an operation of this name. @default false: a second one is refused */
  readonly replace?: boolean;
}

/** Options of {@link operationRegistry}. */
export interface RegistryOptions {
  /**
   * Receives an operation that cannot be registered, for example one with an unsupported schema, and the reason. The registry
   * leaves it out and keeps the others. @default throws the reason
   */
  readonly onInvalid?: (error: SurfaceError, operation: MountedOperation) => void;
}

/** An operation and its handler. */
export type RegisteredOperation = readonly [
  operation: MountedOperation,
  handler: (input: never, context: MountContext) => unknown,
];

/** A source whose operations can be added and removed while an app serves them. Nothing to close. */
export interface OperationRegistry extends MountSource {
  /**
   * Adds an operation; the very next request finds it. Returns a function that removes it, but no operation that replaced it.
   *
   * @throws SurfaceError `NAME_COLLISION` if its name, or its name on the wire, is taken; `INVALID_NAME`, `INVALID_OPTION`,
   * `CONTRADICTION`, `MISSING_HANDLER`, `SCHEMA_UNSUPPORTED`. With `onInvalid` it reports them instead.
   */
  register<$Input extends MountedSchema = never, $Output extends MountedSchema = never>(
    operation: OperationDefinition<$Input, $Output>,
    handler: OperationHandler<$Input, $Output>,
    options?: RegisterOptions,
  ): () => void;
  /** Removes an operation; calls under way finish. Returns false if there was none. */
  unregister(name: string): boolean;
  /** Number of operations. */
  readonly size: number;
}

interface Registered {
  readonly operation: MountedOperation;
  readonly handler: RegisteredOperation[1];
}

class Registry implements OperationRegistry, DiffingSource {
  readonly #registered = new Map<string, Registered>();
  /** Names of operations by their names on the wire. */
  readonly #names = new Map<string, string>();
  readonly #listeners = new Listeners<ListDiff<MountedOperation>>();
  readonly #onInvalid: RegistryOptions["onInvalid"];
  #listed: readonly MountedOperation[] | undefined;

  constructor({ onInvalid }: RegistryOptions) {
    this.#onInvalid = onInvalid;
  }

  get size(): number {
    return this.#registered.size;
  }

  list(): readonly MountedOperation[] {
    this.#listed ??= Object.freeze(Array.from(this.#registered.values(), ({ operation }) => operation));
    return this.#listed;
  }

  subscribe(changed: () => void): () => void {
    return this.#listeners.add(() => changed());
  }

  [kSubscribeDiffs](changed: (diff: ListDiff<MountedOperation>) => void): () => void {
    return this.#listeners.add(changed);
  }

  invoke(name: string, input: unknown, context: MountContext): unknown {
    const registered = this.#registered.get(name);
    if (registered === undefined) throw createNotFound();
    const { handler } = registered;
    // register() has checked the types, and the app has validated the input.
    return handler(input as never, context);
  }

  register<$Input extends MountedSchema = never, $Output extends MountedSchema = never>(
    operation: OperationDefinition<$Input, $Output>,
    handler: OperationHandler<$Input, $Output>,
    options: RegisterOptions = {},
  ): () => void {
    const { replace } = readOptions(options, { replace: withDefault(flag, false) }, "Cannot register an operation");
    const registered = this.#addOrReport([operation, handler], replace);
    if (registered === undefined) return () => {};
    return () => {
      const { name } = registered.operation;
      if (this.#registered.get(name) === registered) this.unregister(name);
    };
  }

  unregister(name: string): boolean {
    const registered = this.#registered.get(name);
    if (registered === undefined) return false;
    this.#registered.delete(name);
    this.#names.delete(wireNameOf(name));
    this.#announce({ gone: [registered.operation], come: [] });
    return true;
  }

  addAll(initial: Iterable<RegisteredOperation>): void {
    for (const registered of initial) this.#addOrReport(registered, false);
  }

  #addOrReport(given: RegisteredOperation, replace: boolean): Registered | undefined {
    try {
      return this.#add(given, replace);
    } catch (cause) {
      if (this.#onInvalid === undefined || !(cause instanceof SurfaceError)) throw cause;
      this.#onInvalid(cause, given[0]);
      return undefined;
    }
  }

  #add([given, handler]: RegisteredOperation, replace: boolean): Registered {
    const operation = readOperation(given, "Cannot register");
    const { name } = operation;
    const origin = operationOrigin(name);
    if (typeof handler !== "function") {
      throw new SurfaceError("MISSING_HANDLER", `Cannot register ${origin}: its handler must be a function`);
    }
    toMountedSchemas(operation, origin);
    const wireName = wireNameOf(name);
    const owner = this.#names.get(wireName);
    if (owner !== undefined && (!replace || owner !== name)) {
      const message = `Cannot register ${origin}: its wire name "${wireName}" is taken by ${operationOrigin(owner)}`;
      throw new SurfaceError("NAME_COLLISION", message);
    }
    const replaced = this.#registered.get(name);
    const registered = { operation, handler };
    this.#registered.set(name, registered);
    this.#names.set(wireName, name);
    this.#announce({ gone: replaced === undefined ? [] : [replaced.operation], come: [operation] });
    return registered;
  }

  #announce(diff: ListDiff<MountedOperation>): void {
    this.#listed = undefined;
    // The operation is registered: a failing listener is no fault of the code that registered it.
    this.#listeners.tell(diff, (cause) => void internalError(cause, "operation registry", reportToConsole));
  }
}

function wireNameOf(name: string): string {
  return toWireName(name, { origin: operationOrigin(name), allowDash: true });
}

/**
 * Creates a registry of operations, which any number of apps can mount.
 *
 * @param initial - the first operations. The compiler does not hold their handlers to their schemas.
 * @throws SurfaceError as {@link OperationRegistry.register} does; `INVALID_OPTION`.
 */
export function operationRegistry(
  initial: Iterable<RegisteredOperation> = [],
  options: RegistryOptions = {},
): OperationRegistry {
  const registry = new Registry(
    readOptions(options, { onInvalid: callable }, "Cannot create a registry of operations"),
  );
  registry.addAll(initial);
  return registry;
}
