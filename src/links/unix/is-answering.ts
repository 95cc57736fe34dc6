import { codeOf } from "../system-error.ts";
import { connectSocket } from "./connect-socket.ts";

const probeMs = 1000;

/** Whether somebody answers at a socket. What cannot be told counts as an answer. */
export async function isAnswering(path: string): Promise<boolean> {
  try {
    (await connectSocket({ path, withinMs: probeMs })).destroy();
    return true;
  } catch (cause) {
    return codeOf(cause) !== "ECONNREFUSED" && codeOf(cause) !== "ENOENT";
  }
}
