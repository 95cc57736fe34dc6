import { SurfaceError } from "../errors.ts";
import { followSignal } from "./follow-signal.ts";
import { handleThrown } from "./handle-thrown.ts";

/** The error of something that its caller cancelled. A signal whose reason is an error of this package keeps it. */
export function toAborted(signal: AbortSignal, doing: string): SurfaceError {
  const reason: unknown = signal.reason;
  handleThrown(reason);
  return reason instanceof SurfaceError ? reason : new SurfaceError("ABORTED", `${doing}: the caller cancelled`);
}

/** What {@link untilAborted} waits for, and until when. */
export interface Cancellable<TValue> {
  /** Starts the work. Not called when the signal has fired already. */
  readonly start: () => Promise<TValue>;
  readonly signal: AbortSignal;
  /** Names the work in the error, for example `Calling "node.rerun"`. */
  readonly doing: string;
}

/**
 * Settles as the work does, or rejects as soon as the signal fires; the later outcome of the work is dropped.
 *
 * @throws SurfaceError `ABORTED`, or the signal's own reason where that is an error of this package.
 */
export async function untilAborted<TValue>({ start, signal, doing }: Cancellable<TValue>): Promise<TValue> {
  if (signal.aborted) throw toAborted(signal, doing);
  const work = start();
  return new Promise<TValue>((resolve, reject) => {
    const leave = followSignal(signal, () => {
      reject(toAborted(signal, doing));
      // No caller sees a later failure.
      work.catch(handleThrown);
    });
    work.then(resolve, reject).finally(leave);
  });
}
