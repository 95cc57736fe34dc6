import { unrefTimer } from "../surface/system-clock.ts";
import type { EntryCall } from "./entry.ts";

/** How often a caller that waits is told that the wait goes on, in milliseconds. */
const everyMs = 1000;

/** Reports the seconds waited as progress until `work` settles. The timer does not keep the process alive. */
export async function withHeartbeat<TAnswer>(work: Promise<TAnswer>, call: EntryCall): Promise<TAnswer> {
  let seconds = 0;
  const timer = setInterval(() => {
    seconds += 1;
    call.progress({ progress: seconds, message: `waiting, ${seconds} s` });
  }, everyMs);
  unrefTimer(timer);
  try {
    return await work;
  } finally {
    clearInterval(timer);
  }
}
