import { assertKnownOptions } from "../tags/assert-known-options.ts";
import { Refusal, SurfaceError } from "../errors.ts";
import type { JsonSchema, JsonValue } from "../schema/json.ts";
import type { InferInput, InferOutput, Schema } from "../schema/standard.ts";
import { internalError, reportToConsole } from "../surface/fault.ts";
import { Listeners } from "../surface/listeners.ts";
import { assertOperation } from "./assert-operation.ts";
import { operationNotFound } from "./cannot-nest.ts";
import { keepOperation } from "./keep-operation.ts";
import type { MountContext, MountedOperation, MountedSchema, MountSource } from "./mount.ts";
import { operationOrigin } from "./operation-origin.ts";
import { toMountedSchemas } from "./mounted-schemas.ts";
import { toWireName } from "./wire-name.ts";

/** An operation as it is registered: its schemas say what its handler is given, and what it answers. */
export type OperationDefinition<TInput extends MountedSchema, TOutput extends MountedSchema> = Omit<
  MountedOperation,
  "inputSchema" | "outputSchema"
> & {
  readonly inputSchema?: TInput;
  readonly outputSchema?: TOutput;
};

/** What a handler is given: what the schema makes of it, JSON where that is a JSON Schema, `undefined` where there is none. */
export type OperationInput<TInput> = [Extract<TInput, Schema>] extends [never]
  ? [Extract<TInput, JsonSchema>] extends [never]
    ? undefined
    : JsonValue
  : InferOutput<Extract<TInput, Schema>>;

/** What a handler answers, now or later: what the schema takes; anything where there is none, or a JSON Schema. */
export type OperationAnswer<TOutput> = [Extract<TOutput, Schema>] extends [never]
  ? unknown
  : InferInput<Extract<TOutput, Schema>> | PromiseLike<InferInput<Extract<TOutput, Schema>>>;

/** Carries out an operation. */
export type OperationHandler<TInput, TOutput> = (
  input: OperationInput<TInput>,
  context: MountContext,
) => OperationAnswer<TOutput>;

/** What may be said when something is registered. */
export interface RegisterOptions {
  /** Take the place of an operation of this name, where there is one. Default `false`: that is refused. */
  readonly replace?: boolean;
}

/** An operation and what carries it out. */
export type RegisteredOperation = readonly [
  operation: MountedOperation,
  handler: (input: never, context: MountContext) => unknown,
];

/** Operations that come and go while they are served. Nothing to close. */
export interface OperationRegistry extends MountSource {
  /**
   * Adds an operation; the very next request finds it. Returns what takes it away again, and nothing that has taken its place.
   *
   * @throws SurfaceError `NAME_COLLISION` where there is one of this name, or of the same name on the wire; `INVALID_NAME`,
   * `INVALID_OPTION`, `CONTRADICTION`, `MISSING_HANDLER`, `SCHEMA_UNSUPPORTED`.
   */
  register<$Input extends MountedSchema = never, $Output extends MountedSchema = never>(
    operation: OperationDefinition<$Input, $Output>,
    handler: OperationHandler<$Input, $Output>,
    options?: RegisterOptions,
  ): () => void;
  /** Takes an operation away; calls under way finish. Whether there was one. */
  unregister(name: string): boolean;
  /** How many there are. */
  readonly size: number;
}

interface Registered {
  readonly operation: MountedOperation;
  readonly handler: RegisteredOperation[1];
}

class Registry implements OperationRegistry {
  readonly #registered = new Map<string, Registered>();
  /** What has which name on the wire. */
  readonly #names = new Map<string, string>();
  readonly #listeners = new Listeners();
  #listed: readonly MountedOperation[] | undefined;

  get size(): number {
    return this.#registered.size;
  }

  list(): readonly MountedOperation[] {
    this.#listed ??= Object.freeze(Array.from(this.#registered.values(), ({ operation }) => operation));
    return this.#listed;
  }

  subscribe(changed: () => void): () => void {
    return this.#listeners.add(changed);
  }

  invoke(name: string, input: unknown, context: MountContext): unknown {
    const registered = this.#registered.get(name);
    if (registered === undefined) throw new Refusal(operationNotFound.code, operationNotFound.message);
    const { handler } = registered;
    // Its types were held together where it was registered, and the face has validated the input.
    return handler(input as never, context);
  }

  register<$Input extends MountedSchema = never, $Output extends MountedSchema = never>(
    operation: OperationDefinition<$Input, $Output>,
    handler: OperationHandler<$Input, $Output>,
    options: RegisterOptions = {},
  ): () => void {
    assertKnownOptions(options, ["replace"], `Registering operation "${operation.name}"`);
    const { replace = false } = options;
    const registered = this.#add([operation, handler], replace);
    this.#change();
    return () => {
      const { name } = registered.operation;
      if (this.#registered.get(name) === registered) this.unregister(name);
    };
  }

  unregister(name: string): boolean {
    if (!this.#registered.delete(name)) return false;
    this.#names.delete(wireNameOf(name));
    this.#change();
    return true;
  }

  addAll(initial: Iterable<RegisteredOperation>): void {
    for (const registered of initial) this.#add(registered, false);
  }

  #add([given, handler]: RegisteredOperation, replace: boolean): Registered {
    const operation = keepOperation(given);
    assertOperation(operation, { verb: "Registering" });
    const origin = operationOrigin(operation.name);
    if (typeof handler !== "function") {
      throw new SurfaceError("MISSING_HANDLER", `Registering ${origin}: its handler must be a function`);
    }
    toMountedSchemas(operation, origin);
    this.#assertFree(operation.name, { origin, replace });
    const registered = { operation, handler };
    this.#registered.set(operation.name, registered);
    this.#names.set(wireNameOf(operation.name), operation.name);
    return registered;
  }

  #assertFree(name: string, { origin, replace }: { readonly origin: string; readonly replace: boolean }): void {
    const wireName = wireNameOf(name);
    const taken = this.#names.get(wireName);
    if (taken === undefined || (replace && taken === name)) return;
    const message = `Registering ${origin}: its name on the wire, "${wireName}", is taken by ${operationOrigin(taken)}`;
    throw new SurfaceError("NAME_COLLISION", message);
  }

  #change(): void {
    this.#listed = undefined;
    // What was registered is; whoever did it has no part in this.
    this.#listeners.tell(undefined, (cause) => void internalError(cause, "operation registry", reportToConsole));
  }
}

function wireNameOf(name: string): string {
  return toWireName(name, { origin: operationOrigin(name), allowDash: true });
}

/**
 * Makes a registry of operations, to be mounted in as many apps as one likes.
 *
 * @param initial - what is registered to begin with, without types that hold handlers to their schemas.
 * @throws SurfaceError as {@link OperationRegistry.register} does.
 */
export function operationRegistry(initial: Iterable<RegisteredOperation> = []): OperationRegistry {
  const registry = new Registry();
  registry.addAll(initial);
  return registry;
}
