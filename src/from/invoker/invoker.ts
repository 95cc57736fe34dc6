import { callable, type OptionFields } from "../../options/option.ts";
import { readOptions } from "../../options/read-options.ts";
import { operationNotFound } from "../../catalog/outcome.ts";
import type { MountContext, MountedOperation, MountSource } from "../../catalog/mounts/mount.ts";
import { Refusal, SurfaceError } from "../../errors.ts";
import { isJsonObject } from "../../schema/json.ts";
import { internalError, reportToConsole, toSafeReporter, type FaultReporter } from "../../surface/fault.ts";
import { Listeners } from "../../surface/listeners.ts";
import { InvokerList } from "./invoker-list.ts";
import { toAnswer } from "./to-answer.ts";
import { nameIn, readTool, toOperationName, type ReadTool, type ToolInvoker } from "./tool-invoker.ts";

/** What {@link invokers} may be told. */
export interface InvokersOptions {
  /** Told of invokers that fail, and of tools that are left out. Default: the console. */
  readonly onFault?: FaultReporter | undefined;
}

/** The tools of invokers, one after the other. Nothing to close. */
export interface InvokerSource extends MountSource {
  /** Asks all of them again what there is. */
  refresh(): void;
}

/** One tool, and whose it is. */
interface Tool extends ReadTool {
  readonly list: InvokerList;
}

/** What was found so far, of which each has a name of its own. */
interface Taken {
  readonly tools: Map<string, Tool>;
  readonly wireNames: Map<string, Tool>;
  readonly doubles: Set<string>;
  readonly tell: (cause: SurfaceError) => void;
}

const origin = "a chain of invokers";

function notThere(): Refusal {
  return new Refusal(operationNotFound.code, operationNotFound.message);
}

function isInvoker(value: unknown): value is ToolInvoker {
  if (typeof value !== "object" || value === null) return false;
  return (
    typeof Reflect.get(value, "list") === "function" &&
    typeof Reflect.get(value, "invoke") === "function" &&
    ["undefined", "function"].includes(typeof Reflect.get(value, "subscribe"))
  );
}

function wireNameOf(name: string): string {
  return toOperationName(name).replaceAll(".", "_");
}

function collision(taken: Tool, first: Tool): SurfaceError {
  const [name, owner] = [taken.name, `tool "${first.name}" of ${first.list.where}`];
  const wire = wireNameOf(name);
  const message = `Naming tool "${name}" of ${taken.list.where}: its name on the wire, "${wire}", is taken by ${owner}`;
  return new SurfaceError("NAME_COLLISION", message);
}

class ChainedInvokers implements InvokerSource {
  readonly #lists: readonly InvokerList[];
  readonly #report: FaultReporter;
  readonly #listeners = new Listeners();
  /** By name within the mount. */
  #tools: ReadonlyMap<string, Tool> = new Map();
  /** Those that were left out, and were told of. */
  #doubles: ReadonlySet<string> = new Set();
  /** What could not be read, and was told of. */
  readonly #unreadable = new WeakSet<object>();

  constructor(chain: readonly ToolInvoker[], report: FaultReporter) {
    this.#report = report;
    const changed = (): void => this.#change();
    this.#lists = chain.map((each, index) => {
      return new InvokerList({ invoker: each, where: `invoker ${index + 1}`, report, changed });
    });
    this.#take((cause) => {
      throw cause;
    });
  }

  list(): readonly MountedOperation[] {
    return this.#take((cause) => void internalError(cause, origin, this.#report));
  }

  subscribe(changed: () => void): () => void {
    if (this.#listeners.size === 0) for (const list of this.#lists) list.listen();
    const stop = this.#listeners.add(changed);
    return () => {
      const before = this.#listeners.size;
      stop();
      if (before === 0 || this.#listeners.size > 0) return;
      for (const list of this.#lists) list.rest();
    };
  }

  refresh(): void {
    for (const list of this.#lists) list.refresh();
  }

  look(name: string): void {
    const tool = this.#tools.get(name);
    const listed = tool?.list.look();
    if (tool === undefined || listed === undefined) return;
    const now = this.#read(listed.find((each) => nameIn(each) === tool.name));
    if (typeof now !== "object" || now.words !== tool.words) tool.list.adopt(listed);
  }

  async invoke(name: string, input: unknown, context: MountContext): Promise<unknown> {
    const tool = this.#tools.get(name);
    if (tool === undefined) throw notThere();
    // Their schemas are of objects; one that is not has what it says.
    const args = isJsonObject(input) ? input : ((input ?? {}) as Parameters<ToolInvoker["invoke"]>[1]);
    const answer: unknown = await tool.list.invoker.invoke(tool.name, args, context);
    return toAnswer(answer, { isDeclared: tool.operation.outputSchema !== undefined, addMeta: context.addMeta });
  }

  /** @param tell - told of what is left out since its name is taken, once. */
  #take(tell: (cause: SurfaceError) => void): readonly MountedOperation[] {
    const taken: Taken = { tools: new Map(), wireNames: new Map(), doubles: new Set(), tell };
    const operations = this.#lists.flatMap((list) => list.items().flatMap((each) => this.#takeOne(each, list, taken)));
    this.#tools = taken.tools;
    this.#doubles = taken.doubles;
    return operations;
  }

  #takeOne(listed: unknown, list: InvokerList, taken: Taken): readonly MountedOperation[] {
    const read = this.#read(listed);
    if (read === "unreadable") return [];
    // What is no tool is refused, and told of, by whoever makes entries.
    return read === undefined ? [listed as MountedOperation] : this.#place({ ...read, list }, taken);
  }

  /** What a list has; `undefined` where that is no tool. What cannot be read is told of once. */
  #read(listed: unknown): ReadTool | "unreadable" | undefined {
    if (typeof listed !== "object" || listed === null) return undefined;
    try {
      return readTool(listed);
    } catch (cause) {
      if (!this.#unreadable.has(listed)) internalError(cause, origin, this.#report);
      this.#unreadable.add(listed);
      return "unreadable";
    }
  }

  /** The operation of a tool; none where another has its name. */
  #place(listed: Tool, { tools, wireNames, doubles, tell }: Taken): readonly MountedOperation[] {
    const { list, name } = listed;
    const wireName = wireNameOf(name);
    const first = wireNames.get(wireName);
    if (first !== undefined) {
      const key = `${list.where} ${name}`;
      doubles.add(key);
      if (!this.#doubles.has(key)) tell(collision(listed, first));
      return [];
    }
    const tool = this.#keep(listed);
    tools.set(tool.operation.name, tool);
    wireNames.set(wireName, tool);
    return [tool.operation];
  }

  /** A tool is the same as before where it is told of in the same words. */
  #keep(tool: Tool): Tool {
    const known = this.#tools.get(tool.operation.name);
    return known !== undefined && known.list === tool.list && known.words === tool.words ? known : tool;
  }

  #change(): void {
    this.#listeners.tell(undefined, (cause) => void internalError(cause, origin, this.#report));
  }
}

const fields: OptionFields<InvokersOptions> = { onFault: callable };

/**
 * Makes what can be mounted of invokers of tools, the first one's before the next one's. Each is asked at once what it has; one that
 * answers later is listed when it has.
 *
 * @throws SurfaceError `INVALID_OPTION` for what is no invoker, `NAME_COLLISION` naming both where two tools that are listed by now
 * have one name. Those that come later are left out, and reported.
 */
export function invokers(chain: readonly ToolInvoker[], options: InvokersOptions = {}): InvokerSource {
  const { onFault = reportToConsole } = readOptions(options, fields, "Chaining invokers");
  const given: readonly unknown[] = chain;
  if (given.length === 0 || !given.every(isInvoker)) {
    throw new SurfaceError("INVALID_OPTION", "Chaining invokers: each must have the methods list() and invoke()");
  }
  return new ChainedInvokers(chain, toSafeReporter(onFault));
}

/**
 * As {@link invokers}, of those that are passed.
 *
 * @throws SurfaceError as that does.
 * @example
 * ```ts
 * app.mount("tools", invoker(localTools, remoteTools));
 * ```
 */
export function invoker(...chain: readonly ToolInvoker[]): InvokerSource {
  return invokers(chain);
}
