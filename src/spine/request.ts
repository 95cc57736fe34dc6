import { SurfaceError, type SurfaceErrorCode } from "../errors.ts";
import type { Clock } from "./clock.ts";
import type { ConnectionHolder } from "./connection-holder.ts";
import type { HeldLink } from "./dial.ts";
import type { HolderUser } from "./holder-user.ts";
import type { Place } from "./in-flight.ts";

/** How one sending went. Only the first that is told counts. */
export interface Reply<TValue> {
  answered(value: TValue): void;
  /** The far side said no, or what was asked cannot be sent at all: the link is not to blame. */
  refused(cause: unknown): void;
  /** The link has failed. `sent: false` is said only where nothing was written. */
  lost(sent: boolean): void;
}

/** One request over a held link. */
export interface RequestSetting<TLink, TValue> {
  /** Names it in errors, for example `"node.rerun" of surface "ci"`. */
  readonly what: string;
  /** A read is sent again when its link is lost, once a generation. A mutation is sent once, and never again. */
  readonly kind: "read" | "mutation";
  /** How long a read waits for a link, counted from when it first had none, in milliseconds. */
  readonly patienceMs: number;
  /** Told each time that it begins to wait for a link. */
  waiting(): void;
  /** Sends it; returns what cancels it. Must not throw. */
  send(link: TLink, reply: Reply<TValue>): () => void;
  /** Receives the one outcome. Not called once the request was cancelled. */
  answered(value: TValue): void;
  /**
   * Receives the one outcome that is no answer: what the far side refused with, or a SurfaceError: `UNAVAILABLE`, sent
   * nowhere or a read, safe to try again; `OUTCOME_UNKNOWN`, a mutation that was sent and not answered; `CLOSED`;
   * `DROPPED`; `CONTRACT_MISMATCH` or `PROTOCOL_MISMATCH` for a far side that is another than was expected.
   */
  failed(cause: unknown): void;
}

/** More drops than this under one read are no accident. */
const maxSendings = 3;

/** What is there is not what is wanted, or will not come back. */
const finalCodes: ReadonlySet<SurfaceErrorCode> = new Set([
  "CLOSED",
  "DROPPED",
  "UNKNOWN_MEMBER",
  "CONTRACT_MISMATCH",
  "PROTOCOL_MISMATCH",
  "UNSAFE_DIRECTORY",
  "NOT_A_SOCKET",
  "WRONG_OWNER",
]);

/** Failures to connect that say more than that the far side cannot be reached: trying again shortly is no advice. */
const tellingCodes: ReadonlySet<SurfaceErrorCode> = new Set([
  "CLOSED",
  "DROPPED",
  "CONTRACT_MISMATCH",
  "PROTOCOL_MISMATCH",
]);

/** Whether a failure to connect is one that waiting does not mend. */
export function isFinal(failure: unknown): boolean {
  return failure instanceof SurfaceError && finalCodes.has(failure.code);
}

const nothing = (): void => {};

/** One sending of a request, and where its reply goes. A class, since every use makes one: functions would be four. */
class Sending<TLink extends HeldLink, TValue> implements Reply<TValue> {
  readonly #request: HeldRequest<TLink, TValue>;
  readonly generation: number;
  cancel: () => void = nothing;

  constructor(request: HeldRequest<TLink, TValue>, generation: number) {
    this.#request = request;
    this.generation = generation;
  }

  answered(value: TValue): void {
    this.#request.answered(this, value);
  }

  refused(cause: unknown): void {
    this.#request.refused(this, cause);
  }

  lost(sent: boolean): void {
    this.#request.lost(this, sent);
  }
}

/** One request: joins the holder, is sent when there is a link, and settles once. */
class HeldRequest<TLink extends HeldLink, TValue> implements HolderUser<TLink> {
  place: Place<HolderUser<TLink>> | undefined;
  readonly #holder: ConnectionHolder<TLink>;
  readonly #clock: Clock;
  readonly #setting: RequestSetting<TLink, TValue>;
  #sending: Sending<TLink, TValue> | undefined;
  #lastTried = 0;
  #sendings = 0;
  #over = false;
  #isCancelled = false;
  #isLate = false;
  #leave: (() => void) | undefined;
  #stopPatience: (() => void) | undefined;

  constructor(holder: ConnectionHolder<TLink>, clock: Clock, setting: RequestSetting<TLink, TValue>) {
    this.#holder = holder;
    this.#clock = clock;
    this.#setting = setting;
  }

  get wants(): boolean {
    return !this.#over && this.#sending === undefined;
  }

  isPatient(failure: unknown): boolean {
    return this.#setting.kind === "read" && !isFinal(failure);
  }

  start(): void {
    this.#join();
  }

  /** Ends it for its caller: nothing is told after this. Callable twice. */
  cancel(): void {
    this.#isCancelled = true;
    if (this.#over) return;
    const sending = this.#sending;
    this.#end();
    sending?.cancel();
  }

  live(link: TLink, generation: number): void {
    if (!this.wants || generation <= this.#lastTried) return;
    this.#lastTried = generation;
    this.#sendings += 1;
    const sending = new Sending<TLink, TValue>(this, generation);
    this.#sending = sending;
    const cancel = this.#setting.send(link, sending);
    sending.cancel = cancel;
    // Cancelled while it was being sent: who cancelled had nothing yet to cancel it by.
    if (this.#over && this.#sending === sending) cancel();
  }

  answered(sending: Sending<TLink, TValue>, value: TValue): void {
    if (this.#take(sending)) this.#answer(value);
  }

  refused(sending: Sending<TLink, TValue>, cause: unknown): void {
    if (this.#take(sending)) this.#fail(cause);
  }

  lost(sending: Sending<TLink, TValue>, sent: boolean): void {
    if (this.#take(sending)) this.#lose(sent);
  }

  down(): void {
    // What is under way may still be answered; what waits hears of the next link.
  }

  ended(generation: number): void {
    if (this.#sending?.generation === generation && !this.#over) this.#lose(true);
  }

  unreachable(cause: unknown): void {
    if (this.#over) return;
    if (!(cause instanceof SurfaceError)) return this.#fail(this.#createUnavailable(cause));
    const { code, message } = cause;
    // The far side has no such surface: whoever is there, it is not what was built against.
    if (code === "UNKNOWN_MEMBER") return this.#fail(new SurfaceError("CONTRACT_MISMATCH", message, { cause }));
    this.#fail(tellingCodes.has(code) ? cause : this.#createUnavailable(cause));
  }

  /** The first reply ends the sending: another one, or one that comes after a cancel, changes nothing. */
  #take(sending: Sending<TLink, TValue>): boolean {
    if (this.#sending !== sending) return false;
    this.#sending = undefined;
    return !this.#over;
  }

  #join(): void {
    const leave = this.#holder.join(this);
    // Settled within join(): there is nothing left to leave later.
    if (this.#over) return leave();
    this.#leave = leave;
    if (!this.wants) return;
    this.#expect();
    this.#setting.waiting();
  }

  /** Waits for a link, within bounds. */
  #expect(): void {
    if (this.#setting.kind !== "read" || this.#stopPatience !== undefined) return;
    this.#stopPatience = this.#clock.after(this.#setting.patienceMs, () => {
      this.#isLate = true;
      if (this.wants) this.#fail(this.#createUnavailable(this.#holder.lastFailure));
    });
  }

  #lose(sent: boolean): void {
    this.#sending = undefined;
    const { kind, what } = this.#setting;
    if (kind === "mutation") {
      const unknown = new SurfaceError("OUTCOME_UNKNOWN", `Calling ${what}: the connection was lost before the answer`);
      return this.#fail(sent ? unknown : this.#createUnavailable(undefined));
    }
    if (this.#isLate || this.#sendings >= maxSendings) return this.#fail(this.#createUnavailable(undefined));
    // Joined anew, so that a link is dialled for it now that it needs one again.
    this.#leave?.();
    this.#leave = undefined;
    this.#join();
  }

  #answer(value: TValue): void {
    this.#end();
    // Letting go of the link may have called back its caller, who cancelled.
    if (!this.#isCancelled) this.#setting.answered(value);
  }

  #fail(cause: unknown): void {
    this.#end();
    if (!this.#isCancelled) this.#setting.failed(cause);
  }

  #end(): void {
    this.#over = true;
    this.#stopPatience?.();
    this.#leave?.();
    this.#leave = undefined;
  }

  #createUnavailable(cause: unknown): SurfaceError {
    return new SurfaceError("UNAVAILABLE", `Using ${this.#setting.what}: there is no connection`, { cause });
  }
}

/**
 * Starts a request over the holder's link. Returns what cancels it: after that nothing is told, and what was sent is
 * cancelled where it runs.
 */
export function startRequest<TLink extends HeldLink, TValue>(
  holder: ConnectionHolder<TLink>,
  clock: Clock,
  setting: RequestSetting<TLink, TValue>,
): () => void {
  const request = new HeldRequest(holder, clock, setting);
  request.start();
  return () => request.cancel();
}
