import { SurfaceError, type SurfaceErrorCode } from "../errors.ts";
import type { Clock } from "./clock.ts";
import type { ConnectionManager, HeldLink, ConnectionUser } from "./connection-manager.ts";
import type { Place } from "./collections.ts";

/** The outcome of one attempt. Only the first call counts. */
export interface Reply<TValue> {
  answered(value: TValue): void;
  /** The far side refused, or the request cannot be sent at all. The link still works. */
  refused(cause: unknown): void;
  /** The link has failed. `sent` is false only if nothing was written. */
  lost(sent: boolean): void;
}

/** One request over a held link. */
export interface HeldRequestOptions<TLink, TValue> {
  /** The name in errors, for example `"node.rerun" of surface "ci"`. */
  readonly what: string;
  /** A read is sent again when its link is lost, once a generation. A mutation is sent once. */
  readonly kind: "read" | "mutation";
  /** Milliseconds that a read waits for a link, from when it first had none. */
  readonly patienceMs: number;
  /** Called each time that it starts to wait for a link. */
  waiting(): void;
  /** Sends it, and returns a function that cancels it. Must not throw. */
  send(link: TLink, reply: Reply<TValue>): () => void;
  /** Receives the answer. Neither this nor {@link failed} is called after a cancel. */
  answered(value: TValue): void;
  /**
   * Receives the refusal of the far side, or a SurfaceError: `UNAVAILABLE`, not sent or a read, safe to retry; `OUTCOME_UNKNOWN`, a
   * mutation that was sent and not answered; `CLOSED`; `DROPPED`; `CONTRACT_MISMATCH` or `PROTOCOL_MISMATCH`.
   */
  failed(cause: unknown): void;
}

/** Attempts of one read. */
const maxSendings = 3;

/** Failures that another attempt to connect does not mend. */
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

/** Failures to connect that the caller gets as they are, in place of `UNAVAILABLE`, which invites a retry. */
const tellingCodes: ReadonlySet<SurfaceErrorCode> = new Set([
  "CLOSED",
  "DROPPED",
  "CONTRACT_MISMATCH",
  "PROTOCOL_MISMATCH",
]);

/** Returns true if waiting does not mend a failure to connect. */
export function isFinalFailure(failure: unknown): boolean {
  return failure instanceof SurfaceError && finalCodes.has(failure.code);
}

const nothing = (): void => {};

/** One attempt. A class, since every request creates one: functions would be four. */
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

class HeldRequest<TLink extends HeldLink, TValue> implements ConnectionUser<TLink> {
  place: Place<ConnectionUser<TLink>> | undefined;
  readonly #holder: ConnectionManager<TLink>;
  readonly #clock: Clock;
  readonly #setting: HeldRequestOptions<TLink, TValue>;
  #sending: Sending<TLink, TValue> | undefined;
  #lastTried = 0;
  #sendings = 0;
  #over = false;
  #isCancelled = false;
  #isLate = false;
  #leave: (() => void) | undefined;
  #stopPatience: (() => void) | undefined;

  constructor(holder: ConnectionManager<TLink>, clock: Clock, setting: HeldRequestOptions<TLink, TValue>) {
    this.#holder = holder;
    this.#clock = clock;
    this.#setting = setting;
  }

  get wants(): boolean {
    return !this.#over && this.#sending === undefined;
  }

  isPatient(failure: unknown): boolean {
    return this.#setting.kind === "read" && !isFinalFailure(failure);
  }

  start(): void {
    this.#join();
  }

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
    // It was cancelled within send(), before `cancel` was known.
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
    // An attempt under way may still be answered.
  }

  ended(generation: number): void {
    if (this.#sending?.generation === generation && !this.#over) this.#lose(true);
  }

  unreachable(cause: unknown): void {
    if (this.#over) return;
    if (!(cause instanceof SurfaceError)) return this.#fail(this.#createUnavailable(cause));
    const { code, message } = cause;
    // The far side has no such surface.
    if (code === "UNKNOWN_MEMBER") return this.#fail(new SurfaceError("CONTRACT_MISMATCH", message, { cause }));
    this.#fail(tellingCodes.has(code) ? cause : this.#createUnavailable(cause));
  }

  /** Ends an attempt with its first reply. Returns `false` for any other reply, and after a cancel. */
  #take(sending: Sending<TLink, TValue>): boolean {
    if (this.#sending !== sending) return false;
    this.#sending = undefined;
    return !this.#over;
  }

  #join(): void {
    const leave = this.#holder.join(this);
    // Settled within join().
    if (this.#over) return leave();
    this.#leave = leave;
    if (!this.wants) return;
    this.#expect();
    this.#setting.waiting();
  }

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
    // Joins again, so that the holder dials for it.
    this.#leave?.();
    this.#leave = undefined;
    this.#join();
  }

  #answer(value: TValue): void {
    this.#end();
    // The caller may have cancelled while #end() left the holder.
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

/** Starts a request over the link of a holder. Returns a function that cancels it, also at the far side. No callback is called after that. */
export function startRequest<TLink extends HeldLink, TValue>(
  holder: ConnectionManager<TLink>,
  clock: Clock,
  setting: HeldRequestOptions<TLink, TValue>,
): () => void {
  const request = new HeldRequest(holder, clock, setting);
  request.start();
  return () => request.cancel();
}
