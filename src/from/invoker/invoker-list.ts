import { SurfaceError } from "../../errors.ts";
import { internalError, onRejection, runUnawaited, type FaultReporter } from "../../surface/fault.ts";
import type { ToolInvoker } from "./tool-invoker.ts";

/** What {@link InvokerList} takes. */
export interface InvokerListSetting {
  readonly invoker: ToolInvoker;
  /** How messages name it. */
  readonly where: string;
  readonly report: FaultReporter;
  /** Told when something else may be listed. */
  readonly changed: () => void;
}

function isLater(listed: unknown): listed is PromiseLike<unknown> {
  return typeof listed === "object" && listed !== null && "then" in listed && typeof listed.then === "function";
}

/** What one invoker lists: what it listed last, as long as it cannot say. */
export class InvokerList {
  readonly invoker: ToolInvoker;
  readonly where: string;
  readonly #setting: InvokerListSetting;
  #listed: readonly unknown[] = [];
  #isStale = true;
  /** Whether it is asked now, and answers later. */
  #isAsked = false;
  #isLater = false;
  #stop: (() => unknown) | undefined;

  constructor(setting: InvokerListSetting) {
    this.#setting = setting;
    this.invoker = setting.invoker;
    this.where = setting.where;
  }

  /** Whether nobody says when it changes, and it can be asked at once. */
  get isPolled(): boolean {
    return this.invoker.subscribe === undefined && !this.#isLater;
  }

  /** What is known of it now. Never throws. */
  items(): readonly unknown[] {
    if (this.#isStale && !this.#isAsked) this.#ask();
    return this.#listed;
  }

  /** What it lists right now, where it {@link isPolled}; `undefined` where it cannot say. */
  poll(): readonly unknown[] | undefined {
    try {
      const listed: unknown = this.invoker.list();
      return Array.isArray(listed) ? listed : undefined;
    } catch (cause) {
      this.#tell(cause);
      return undefined;
    }
  }

  /** Something else may be listed. */
  refresh(): void {
    this.#isStale = true;
    // One that answers later is asked at once: nobody waits for it when it is looked at.
    if (this.#isLater && !this.#isAsked) this.#ask();
    this.#setting.changed();
  }

  /** Listens to it, and looks again at what has changed before. */
  listen(): void {
    this.#isStale = true;
    const { invoker } = this;
    if (invoker.subscribe === undefined) return;
    try {
      const stop: unknown = invoker.subscribe(() => this.refresh());
      if (typeof stop === "function") {
        this.#stop = () => Reflect.apply(stop, undefined, []);
        return;
      }
      onRejection(stop, (cause) => this.#tell(cause));
      throw new SurfaceError("INVALID_OPTION", `Listening to ${this.where}: its subscribe() must return a function`);
    } catch (cause) {
      this.#tell(cause);
    }
  }

  /** Stops that. Callable twice. */
  rest(): void {
    const stop = this.#stop;
    this.#stop = undefined;
    if (stop !== undefined) runUnawaited(stop, (cause) => this.#tell(cause));
  }

  #ask(): void {
    this.#isStale = false;
    try {
      const listed: unknown = this.invoker.list();
      this.#isLater = isLater(listed);
      if (isLater(listed)) void this.#wait(listed);
      else this.#take(listed);
    } catch (cause) {
      this.#tell(cause);
    }
  }

  async #wait(listed: PromiseLike<unknown>): Promise<void> {
    this.#isAsked = true;
    try {
      this.#take(await listed);
    } catch (cause) {
      this.#tell(cause);
    } finally {
      this.#isAsked = false;
    }
    // What has changed meanwhile is asked for once more.
    if (this.#isStale) this.#ask();
    this.#setting.changed();
  }

  #take(listed: unknown): void {
    if (!Array.isArray(listed)) {
      throw new SurfaceError("INVALID_OPTION", `Listing ${this.where}: its list() must give an array of tools`);
    }
    this.#listed = Array.from<unknown>(listed);
  }

  #tell(cause: unknown): void {
    internalError(cause, this.where, this.#setting.report);
  }
}
