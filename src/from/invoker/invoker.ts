import { callable, type OptionFields } from "../../options/option.ts";
import { readOptions } from "../../options/read-options.ts";
import { createNotFound } from "../../catalog/outcome.ts";
import type { MountContext, MountedOperation, MountSource } from "../../catalog/mounts/mount.ts";
import { SurfaceError } from "../../errors.ts";
import { isJsonObject } from "../../schema/json.ts";
import { internalError, reportToConsole, toSafeReporter, type FaultReporter } from "../../surface/fault.ts";
import { Listeners } from "../../surface/listeners.ts";
import { InvokerList } from "./invoker-list.ts";
import { toAnswer } from "./to-answer.ts";
import { nameIn, readTool, toOperationName, type ReadTool, type ToolInvoker } from "./tool-invoker.ts";

/** Options of {@link invokers}. */
export interface InvokersOptions {
  /** Receives errors of invokers, and the reasons why tools are left out. @default `console.error` */
  readonly onFault?: FaultReporter | undefined;
}

/** The tools of a chain of invokers. Nothing to close. */
export interface InvokerSource extends MountSource {
  /** Lists the tools of all invokers again. */
  refresh(): void;
}

/** A tool and the list that it is in. */
interface Tool extends ReadTool {
  readonly list: InvokerList;
}

/** The tools that were read so far, with unique names. */
interface Taken {
  readonly tools: Map<string, Tool>;
  readonly wireNames: Map<string, Tool>;
  readonly doubles: Set<string>;
  readonly tell: (cause: SurfaceError) => void;
}

const origin = "a chain of invokers";

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
  const message = `Cannot name tool "${name}" of ${taken.list.where}: its name on the wire, "${wire}", is taken by ${owner}`;
  return new SurfaceError("NAME_COLLISION", message);
}

class ChainedInvokers implements InvokerSource {
  readonly #lists: readonly InvokerList[];
  readonly #report: FaultReporter;
  readonly #listeners = new Listeners();
  /** By name within the mount. */
  #tools: ReadonlyMap<string, Tool> = new Map();
  /** Tools that were left out because of their names, and reported. */
  #doubles: ReadonlySet<string> = new Set();
  /** Tools that could not be read, and were reported. */
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
    if (tool === undefined) throw createNotFound();
    // A tool whose schema is not of an object receives the value as it is.
    const args = isJsonObject(input) ? input : ((input ?? {}) as Parameters<ToolInvoker["invoke"]>[1]);
    const answer: unknown = await tool.list.invoker.invoke(tool.name, args, context);
    return toAnswer(answer, { isDeclared: tool.operation.outputSchema !== undefined, addMeta: context.addMeta });
  }

  /** Reads the tools of all lists. @param tell - receives, once, the reason why a tool is left out whose name is taken. */
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
    // The catalog refuses and reports a value that is not a tool.
    return read === undefined ? [listed as MountedOperation] : this.#place({ ...read, list }, taken);
  }

  /** Reads a listed tool; `undefined` for a value that is not a tool. Reports one that cannot be read, once. */
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

  /** Returns the operation of a tool; none if its name is taken. */
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

  /** Returns the known tool, if the new one is equal to it. */
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
 * Creates a mount source of several invokers, in their order. Lists the tools of each at once; those of an asynchronous invoker appear
 * when its promise resolves.
 *
 * @throws SurfaceError `INVALID_OPTION` for a value that is not an invoker; `NAME_COLLISION` if two tools that are listed now have the
 * same name. A tool that is listed later under a taken name is left out and reported.
 */
export function invokers(chain: readonly ToolInvoker[], options: InvokersOptions = {}): InvokerSource {
  const { onFault = reportToConsole } = readOptions(options, fields, "Cannot chain invokers");
  const given: readonly unknown[] = chain;
  if (given.length === 0 || !given.every(isInvoker)) {
    throw new SurfaceError("INVALID_OPTION", "Cannot chain invokers: each must have the methods list() and invoke()");
  }
  return new ChainedInvokers(chain, toSafeReporter(onFault));
}

/**
 * Creates a mount source of the given invokers, as {@link invokers} does.
 *
 * @throws SurfaceError as {@link invokers} does.
 * @example
 * ```ts
 * app.mount("tools", invoker(localTools, remoteTools));
 * ```
 */
export function invoker(...chain: readonly ToolInvoker[]): InvokerSource {
  return invokers(chain);
}
