import type { SurfaceError } from "../../errors.ts";
import type { Clock } from "../../spine/clock.ts";
import { internalError, type FaultReporter } from "../../surface/fault.ts";

const intervalMs = 10_000;

/** Most different faults that are reported in one interval: a message may contain parts of a request. */
const maxFaults = 32;

/** A fault that was reported. */
interface Reported {
  readonly at: number;
  readonly correlationId: string | undefined;
  repeats: number;
}

/** Returns the messages of an error and its causes. Their stacks differ from call to call. */
function toKind({ code, message }: SurfaceError): string {
  const lines = message.split("\n").filter((line) => !/^\s+at /.test(line));
  return `${code} ${lines.join("\n")}`;
}

/**
 * Reports the faults of a verifier: each fault once in ten seconds, with the number of its repeats, since anyone can send tokens
 * and make the verifier fail.
 */
export class VerifierFaults {
  readonly #clock: Clock;
  readonly #report: FaultReporter;
  /** By kind, the one that was reported first at the beginning. */
  readonly #reported = new Map<string, Reported>();
  /** Failures that stand in no report. */
  #leftOut = 0;

  constructor(clock: Clock, report: FaultReporter) {
    this.#clock = clock;
    this.#report = report;
  }

  /**
   * Counts a failure. Returns the id under which the same fault was reported in this interval; `undefined` if too many other
   * faults were.
   */
  add(cause: SurfaceError): string | undefined {
    const at = this.#clock.now();
    const kind = toKind(cause);
    const reported = this.#reported.get(kind);
    if (reported !== undefined && this.#isRecent(reported, at)) {
      reported.repeats += 1;
      return reported.correlationId;
    }
    this.#forget(at);
    if (this.#reported.size >= maxFaults) {
      this.#leftOut += 1;
      return undefined;
    }
    const { correlationId } = internalError(cause, this.#describe(reported?.repeats ?? 0), this.#report);
    this.#reported.set(kind, { at, correlationId, repeats: 0 });
    return correlationId;
  }

  #isRecent({ at }: Reported, now: number): boolean {
    return now - at < intervalMs && now >= at;
  }

  /** Makes room for reports of this interval; the repeats of a fault are kept where there is room. */
  #forget(now: number): void {
    if (this.#reported.size < maxFaults) return;
    for (const [kind, reported] of this.#reported) {
      if (this.#isRecent(reported, now)) continue;
      this.#leftOut += reported.repeats;
      this.#reported.delete(kind);
    }
  }

  #describe(repeats: number): string {
    const again = repeats === 0 ? "" : `, which has failed ${repeats} times more in this way since the last report`;
    const others = this.#leftOut === 0 ? "" : `, with ${this.#leftOut} other failures that were not reported`;
    this.#leftOut = 0;
    return `the verifier of tokens${again}${others}`;
  }
}
