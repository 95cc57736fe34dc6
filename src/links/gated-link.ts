import { followSignal } from "../spine/follow-signal.ts";
import { systemClock } from "../surface/system-clock.ts";
import type { Link } from "./link.ts";

/** What holds links back for a while. */
export interface Gate {
  /** Lets everybody through from now on. Callable twice. */
  open(): void;
  /** A link that connects once the gate is open; until then its connecting waits, or is cancelled. */
  behind(link: Link): Link;
}

/** Makes a gate that opens by itself after a while. Its timer does not keep the process alive. */
export function createGate(delayMs: number): Gate {
  let isOpen = false;
  const waiting = new Set<() => void>();
  const open = (): void => {
    isOpen = true;
    stop();
    for (const go of [...waiting]) go();
  };
  const stop = systemClock.after(delayMs, open);
  const opened = (signal: AbortSignal | undefined): Promise<void> =>
    new Promise((resolve) => {
      const go = (): void => {
        waiting.delete(go);
        leave();
        resolve();
      };
      waiting.add(go);
      const leave = signal === undefined ? () => {} : followSignal(signal, () => queueMicrotask(go));
    });
  return {
    open,
    behind: (link) => ({
      async connect(surface, options) {
        // Cancelled meanwhile or not: the link itself says what that comes to.
        if (!isOpen) await opened(options?.signal);
        return link.connect(surface, options);
      },
    }),
  };
}
