import { isDeepStrictEqual } from "node:util";
import type { MountedOperation } from "../../catalog/mounts/mount.ts";
import { SurfaceError } from "../../errors.ts";
import { clipText } from "../../schema/visible-text.ts";
import type { JsonSchema } from "../../schema/json.ts";
import { toActionInput, runAction, type ActionInput, type ServiceAction } from "./action-input.ts";
import type { ActionMetadata, AgenticOptions } from "./agentic-options.ts";
import { createBytesSchema, type BytesPlan } from "./bytes.ts";
import type { WarningLog } from "./warning-log.ts";
import { entriesOf, isSameValue } from "./values.ts";
import { toId } from "../names.ts";
import { AuthorMetadata } from "./author-metadata.ts";
import type { ServicePlace } from "./service-tree.ts";

/** An operation and its function. */
export interface Callable {
  readonly operation: MountedOperation;
  run(input: unknown): unknown;
}

/** An action's own description and schemas, as the service gave them. */
type Words = readonly [description: unknown, schema: unknown, parameters: unknown];

interface Listed {
  readonly description?: string;
  readonly inputSchema?: JsonSchema;
  readonly bytes?: BytesPlan;
}

interface Known extends Callable, ServiceAction {
  readonly words: Words;
  /** Result of the option `describe`. */
  readonly said: ActionMetadata | undefined;
  /** The action's own part of the operation, in a copy that the service cannot change. */
  readonly listed: Listed;
}

interface Found extends Omit<ServiceAction, "input" | "texts"> {
  readonly id: string;
  /** Keys of the links to its service, then its own key. */
  readonly keys: readonly string[];
  readonly words: Words;
}

const maxShownBytes = 128;

function wordsOf(action: object): Words {
  return [Reflect.get(action, "description"), Reflect.get(action, "schema"), Reflect.get(action, "parameters")];
}

/** Returns true only if nothing can have changed: the service may have changed an object in its place. */
function isSame(known: Known, { service, action, words }: Found): boolean {
  const isWord = (word: unknown, at: number): boolean => isSameValue(known.words[at], word);
  return known.service === service && known.action === action && words.every(isWord);
}

/** Turns the actions of all services into operations. An operation stays the same object while its action does not change. */
export class ActionRegistry {
  readonly #said: AuthorMetadata<ActionMetadata>;
  readonly #complaints: WarningLog;
  #known: ReadonlyMap<string, Known> = new Map();

  constructor(describe: AgenticOptions["describe"], complaints: WarningLog) {
    this.#said = new AuthorMetadata("describe", describe);
    this.#complaints = complaints;
  }

  /**
   * Reads all actions again, those of a service before those behind its links. Leaves out and reports an action that cannot be called.
   *
   * @param taken - names of the source's own tools.
   */
  read(places: readonly ServicePlace[], taken: ReadonlyMap<string, Callable>): ReadonlyMap<string, Callable> {
    const made = new Map<string, Known>();
    for (const place of places) {
      const where = `actions of ${toId(place.keys)}`;
      const entries = entriesOf(place.parts.actions.value, (cause) => this.#complaints.add(where, cause));
      for (const [key, action] of entries) {
        const keys = [...place.keys, key];
        const id = toId(keys);
        const known = this.#take({ service: place.service, keys, key, id }, { action, taken });
        if (known !== undefined) made.set(id, known);
      }
    }
    this.#known = made;
    return made;
  }

  /** Reports a `describe` that returned nothing for every action. Called when the last listener has left. */
  end(): void {
    const cause = this.#said.end();
    if (cause !== undefined) this.#complaints.tell(cause);
  }

  #take(
    at: Omit<Found, "action" | "words">,
    { action, taken }: { readonly action: unknown; readonly taken: ReadonlyMap<string, Callable> },
  ): Known | undefined {
    const { id } = at;
    try {
      if (taken.has(id)) throw new SurfaceError("NAME_COLLISION", `its name is taken by tool "${id}" of the mount`);
      if (typeof action !== "object" || action === null) {
        throw new SurfaceError("INVALID_OPTION", "an action must be an object");
      }
      const found = { ...at, action, words: wordsOf(action) };
      const known = this.#known.get(id);
      return known !== undefined && isSame(known, found) ? known : this.#make(found, known);
    } catch (cause) {
      this.#complaints.leaveOut(`Cannot list action "${clipText(id, maxShownBytes)}"`, cause);
      return undefined;
    }
  }

  #make(found: Found, known: Known | undefined): Known {
    const { id, keys, service, key, action, words } = found;
    const [description] = words;
    const input = toActionInput(action);
    assertRuns(action, input);
    const listed: Listed = {
      ...(typeof description === "string" ? { description } : {}),
      ...(input.schema === undefined ? {} : { inputSchema: input.schema }),
      ...(input.bytes === undefined ? {} : { bytes: input.bytes }),
    };
    const isListed = known !== undefined && isDeepStrictEqual(known.listed, listed);
    const said = isListed ? known.said : this.#said.ask(keys);
    const operation = isListed ? known.operation : toOperation(id, listed, said);
    const owned = { service, key, action, input, texts: textsOf(said) };
    return { ...owned, words, listed, said, operation, run: (given) => runAction(owned, given) };
  }
}

function textsOf(said: ActionMetadata | undefined): ServiceAction["texts"] {
  const texts: unknown = said?.texts;
  if (texts === undefined || texts === "refusal") return "refusal";
  if (texts === "answer") return texts;
  throw new SurfaceError("INVALID_OPTION", 'its "texts" must be "refusal" or "answer"');
}

function toOperation(
  id: string,
  { description, inputSchema, bytes }: Listed,
  said: ActionMetadata | undefined,
): MountedOperation {
  const { texts: _texts, ...besides } = said ?? {};
  const words = { ...(description === undefined ? {} : { description }), ...besides, name: id };
  if (inputSchema === undefined) return Object.freeze(words);
  return Object.freeze({
    ...words,
    inputSchema: bytes === undefined ? inputSchema : createBytesSchema(inputSchema, bytes),
  });
}

function assertRuns(action: object, { spread }: ActionInput): void {
  if (spread === undefined || typeof Reflect.get(action, "execute") === "function") return;
  throw new SurfaceError("MISSING_HANDLER", "it has several parameters, so its execute() must be a function");
}
