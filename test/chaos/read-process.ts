import { readdirSync, readFileSync } from "node:fs";

/** What a process takes of the machine; `undefined` where the operating system does not say: everywhere but on Linux. */
export interface ProcessFigures {
  /** Resident memory, in bytes. */
  readonly rss: number | undefined;
  /** Open file descriptors. */
  readonly files: number | undefined;
}

function unlessUnknown(read: () => number): number | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** Reads the operating system's books on a process. */
export function readProcess(pid: number): ProcessFigures {
  return {
    rss: unlessUnknown(() => {
      const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
      return Number(kilobytes) * 1024;
    }),
    files: unlessUnknown(() => readdirSync(`/proc/${pid}/fd`).length),
  };
}
