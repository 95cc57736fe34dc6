import { statSync, watch } from "node:fs";
import type { FSWatcher } from "node:fs";
import { basename, dirname, resolve } from "node:path";

/** Looks that the system gives the reason for. */
export interface DirectoryWatch {
  /** Sees to it that what is watched is what stands under the name now. To be called before every look. */
  renew(): void;
  close(): void;
}

const report = (cause: unknown): void => console.error("watching the notes:", cause);

/** Says which directory this is, as a name alone does not; `undefined` where there is none. */
function identify(dir: string): string | undefined {
  const found = statSync(dir, { bigint: true, throwIfNoEntry: false });
  return found && `${found.dev}:${found.ino}:${found.birthtimeNs}`;
}

/** Not a reason for the process to stay: it ends with its host. */
function tryWatch(dir: string, onEvent: (name: string | null) => void): FSWatcher | undefined {
  try {
    return watch(dir, { persistent: false }, (_kind, name) => onEvent(name)).on("error", report);
  } catch (error) {
    report(error);
    return undefined;
  }
}

/** Looks at a directory after each event that the system has of it; several at once are one reason to look. */
export function watchDirectory(dir: string, look: () => Promise<unknown>): DirectoryWatch {
  let isClosed = false;
  let isDue = false;
  let watched: string | undefined;
  let inside: FSWatcher | undefined;
  const schedule = (): void => {
    if (isDue) return;
    isDue = true;
    setImmediate(() => {
      isDue = false;
      if (!isClosed) look().catch(report);
    });
  };
  // Who watches a directory follows it to wherever it is moved, and hears nothing of the one that takes its place.
  const around = tryWatch(dirname(resolve(dir)), (name) => {
    if (name !== null && name !== basename(resolve(dir))) return;
    watched = undefined;
    schedule();
  });
  return {
    renew() {
      const found = identify(dir);
      if (isClosed || (found !== undefined && found === watched)) return;
      inside?.close();
      watched = found;
      inside = found === undefined ? undefined : tryWatch(dir, schedule);
    },
    close() {
      isClosed = true;
      inside?.close();
      around?.close();
    },
  };
}
