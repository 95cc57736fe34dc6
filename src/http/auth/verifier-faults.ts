import { SurfaceError } from "../../errors.ts";
import type { Clock } from "../../spine/clock.ts";
import { internalError, type FaultReporter } from "../../surface/fault.ts";
import { handleThrown } from "../../spine/handle-thrown.ts";

const maxDepth = 4;
const maxChars = 4096;
/** What is shorter stands in every other word by chance. */
const shortestPart = 16;

function describe(cause: unknown): string {
  if (!(cause instanceof Error)) return `a thrown ${typeof cause}`;
  return typeof cause.stack === "string" ? cause.stack : `${cause.name}: ${cause.message}`;
}

/** A failure and what led to it, in words. What else errors have is left out: those of HTTP clients hold the whole request. */
function describeAll(cause: unknown): string {
  const told: string[] = [];
  for (let at: unknown = cause; at !== undefined && told.length < maxDepth;) {
    told.push(describe(at));
    at = at instanceof Error ? at.cause : undefined;
  }
  return told.join("\ncaused by ");
}

function toPattern(secret: string): string {
  const literal = secret.replaceAll(/[^\w]/g, String.raw`\$&`);
  return secret.length >= shortestPart ? literal : String.raw`(?<!\w)${literal}(?!\w)`;
}

/** A text without a token, or the longer parts of one. */
export function withoutSecrets(text: string, token: string): string {
  const parts = token.split(".").filter((part) => part.length >= shortestPart);
  const secrets = [...new Set([token, encodeURIComponent(token), ...parts])];
  // All in one pass: what stands for a token is no place to look for another.
  return text.replaceAll(new RegExp(secrets.map(toPattern).join("|"), "g"), "[token]");
}

/** Says what a verifier failed with, without the token that it was asked about. Never throws. */
export function withoutToken(cause: unknown, token: string): SurfaceError {
  handleThrown(cause);
  let text: string;
  try {
    text = withoutSecrets(describeAll(cause), token).slice(0, maxChars);
  } catch {
    // A proxy, or a getter that throws.
    text = "a value that cannot be read";
  }
  return new SurfaceError("UNAVAILABLE", `Verifying a token: the verifier failed with ${text}`);
}

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
