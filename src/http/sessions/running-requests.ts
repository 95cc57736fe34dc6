import type { CallContext } from "../../call/call-context.ts";
import type { RpcAnswer } from "../../mcp/protocol.ts";
import type { RequestId } from "../../mcp/request-id.ts";
import type { Turning } from "../admission.ts";
import type { PostedRequest } from "./posted-request.ts";

/** A request under way. */
export interface Running {
  readonly posted: PostedRequest;
  /** Left out for a subscription, which runs no handler. */
  readonly call?: CallContext;
  /** Left out where it did not have to ask for its turn. */
  turning?: Turning;
  /** Told when it is over. Left out where its place is free only when its work has ended. */
  onOver?: () => void;
}

/** The requests of one session that are under way, by the ids that its client gave them. */
export class RunningRequests {
  readonly #all = new Map<RequestId, Running>();
  readonly #onQuiet: (() => void)[] = [];
  readonly #touched: () => void;

  /** @param touched - told when one is over. */
  constructor(touched: () => void) {
    this.#touched = touched;
  }

  get size(): number {
    return this.#all.size;
  }

  /** Whether one of this id is under way. */
  has(id: RequestId): boolean {
    return this.#all.has(id);
  }

  /** One that is under way. */
  get(id: RequestId): Running | undefined {
    return this.#all.get(id);
  }

  /** Adds one, or says more of it. */
  set(id: RequestId, running: Running): void {
    this.#all.set(id, running);
  }

  /** Whether it is still the one under way: its id may be that of another by now. */
  is(id: RequestId, running: Running): boolean {
    return this.#all.get(id) === running;
  }

  /** Answers one, unless it is over. */
  answer(id: RequestId, answer: RpcAnswer): void {
    this.take(id)?.posted.answer(answer);
  }

  /** Takes one out: what becomes of it is for who has it then. */
  take(id: RequestId): Running | undefined {
    const running = this.#all.get(id);
    if (running === undefined) return undefined;
    this.#all.delete(id);
    running.onOver?.();
    this.#touched();
    if (this.#all.size === 0) for (const resolve of this.#onQuiet.splice(0)) resolve();
    return running;
  }

  /** Takes out all. */
  takeAll(): readonly Running[] {
    return [...this.#all.keys()].flatMap((id) => this.take(id) ?? []);
  }

  /** Resolves when none is under way. */
  quiet(): Promise<void> {
    return this.#all.size === 0 ? Promise.resolve() : new Promise((resolve) => this.#onQuiet.push(resolve));
  }
}
