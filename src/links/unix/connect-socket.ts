import { type Socket, connect } from "node:net";
import { followSignal } from "../../spine/follow-signal.ts";
import { toAborted } from "../../spine/until-aborted.ts";
import { SurfaceError } from "../../errors.ts";
import { systemClock } from "../../surface/system-clock.ts";
import { codeOf } from "../system-error.ts";

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

/** Where to, and how long it may take. */
export interface SocketDial {
  readonly path: string;
  readonly withinMs: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Opens a socket; whoever asked for it destroys it. A dial that fails, takes too long or is not wanted any more leaves
 * nothing behind.
 *
 * @throws the system's error, or SurfaceError `TIMEOUT`, or what the signal was fired with.
 */
export function connectSocket({ path, withinMs, signal }: SocketDial): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ path });
    const undo: (() => void)[] = [];
    const settle = (): void => {
      for (const one of undo) one();
    };
    const fail = (cause: unknown): void => {
      settle();
      // For good: what a destroyed socket still says is nobody's concern.
      socket.on("error", () => {});
      socket.destroy();
      reject(cause);
    };
    const onConnect = (): void => {
      settle();
      resolve(socket);
    };
    socket.once("connect", onConnect).once("error", fail);
    undo.push(() => socket.off("connect", onConnect).off("error", fail));
    undo.push(
      systemClock.after(withinMs, () => fail(new SurfaceError("TIMEOUT", `Connecting to "${path}": it took too long`))),
    );
    if (signal !== undefined) {
      undo.push(followSignal(signal, () => fail(toAborted(signal, `Connecting to "${path}"`))));
    }
  });
}
