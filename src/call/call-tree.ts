import { randomUUID } from "node:crypto";
import { Places } from "../spine/places.ts";
import { internalError, reportToConsole, type FaultReporter } from "../surface/fault.ts";
import { Listeners } from "../surface/listeners.ts";
import type { CallEvent, CallNode, Calls } from "./call-node.ts";
import { TrackedCall, type AskedCall, type CallTold } from "./tracked-call.ts";

/** How many calls of hosts are kept once they have ended. */
const maxEnded = 1000;

/** How many calls of one tree are kept: of further ones it is known only that they were. */
const maxKept = 10_000;

/** The same of all trees together, before those that ended first are forgotten. */
const maxKeptInAll = 100_000;

/** The calls of an app, where they are made. */
export interface CallTree extends Calls {
  /** Records that a call is asked for. */
  open(asked: AskedCall): TrackedCall;
}

/** What a tree may be told. */
export interface CallTreeOptions {
  /** Told what listeners throw. Default: the console. */
  readonly report?: FaultReporter | undefined;
}

type Listener = (event: CallEvent) => void;

class KeptCalls implements CallTree, CallTold {
  readonly prefix = randomUUID().slice(0, 8);
  readonly #report: FaultReporter;
  readonly #listeners = new Listeners<CallEvent>();
  readonly #running = new Places<TrackedCall>();
  /** Those that ended, in a ring: no list that grows and shrinks with each call. */
  readonly #ended: (TrackedCall | undefined)[] = Array.from({ length: maxEnded });
  #first = 0;
  #endedCount = 0;
  #kept = 0;
  #opened = 0;

  constructor(report: FaultReporter) {
    this.#report = report;
  }

  get isHeard(): boolean {
    return this.#listeners.size > 0;
  }

  open(asked: AskedCall): TrackedCall {
    const call = asked.above === undefined ? this.#openRoot(asked) : this.#openPart(asked, asked.above);
    // A copy: what a listener does to it is not what is called with.
    if (this.isHeard) call.tellRequested(structuredClone(asked.args));
    return call;
  }

  roots(): readonly CallNode[] {
    return Object.freeze(this.#roots().map((root) => root.look()));
  }

  find(requestId: string): CallNode | undefined {
    const [first = "", ...numbers] = requestId.split(".");
    let found = this.#roots().find((root) => root.requestId === first);
    for (const number of numbers) found = found?.parts?.find((part) => String(part.number) === number);
    return found?.look();
  }

  subscribe(listener: Listener): () => void {
    return this.#listeners.add(listener);
  }

  tell(event: CallEvent): void {
    Object.freeze(event);
    this.#listeners.tell(event, (cause) => void internalError(cause, "a listener for calls", this.#report));
  }

  ended(root: TrackedCall): void {
    if (root.place !== undefined) this.#running.remove(root.place);
    root.place = undefined;
    if (this.#endedCount === maxEnded) this.#forgetFirst();
    this.#ended[(this.#first + this.#endedCount) % maxEnded] = root;
    this.#endedCount += 1;
    while (this.#kept > maxKeptInAll && this.#endedCount > 0) this.#forgetFirst();
  }

  #openRoot(asked: AskedCall): TrackedCall {
    const call = new TrackedCall(this, (this.#opened += 1), asked);
    call.place = this.#running.add(call);
    this.#kept += 1;
    return call;
  }

  #openPart(asked: AskedCall, above: TrackedCall): TrackedCall {
    const call = new TrackedCall(this, (above.partCount += 1), asked);
    const { root } = above;
    if (root.kept >= maxKept) return call;
    above.parts ??= [];
    above.parts.push(call);
    root.kept += 1;
    this.#kept += 1;
    return call;
  }

  #forgetFirst(): void {
    const first = this.#ended[this.#first];
    this.#ended[this.#first] = undefined;
    if (first !== undefined) {
      this.#kept -= first.kept;
      // What still runs in it is kept no more.
      first.kept = maxKept;
    }
    this.#first = (this.#first + 1) % maxEnded;
    this.#endedCount -= 1;
  }

  #roots(): readonly TrackedCall[] {
    const ended = this.#ended.filter((root) => root !== undefined);
    const running = this.#running.list().map(({ value }) => value);
    return [...ended, ...running].toSorted((left, right) => left.number - right.number);
  }
}

/**
 * Makes what records the calls of an app: cheap for each of them, bounded however many there are. What its listeners throw is
 * reported. Needs no disposal.
 */
export function createCallTree({ report = reportToConsole }: CallTreeOptions = {}): CallTree {
  return new KeptCalls(report);
}
