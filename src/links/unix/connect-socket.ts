import { connect, type Socket } from "node:net";
import { codeOf, SurfaceError } from "../../errors.ts";
import { followSignal, createAbortedError } from "../../spine/signals.ts";
import { systemClock } from "../../surface/system-clock.ts";

const probeMs = 1000;

/** Returns whether a process answers at a socket. An unclear failure counts as an answer. */
export async function isAnswering(path: string): Promise<boolean> {
  try {
    (await connectSocket({ path, withinMs: probeMs })).destroy();
    return true;
  } catch (cause) {
    return codeOf(cause) !== "ECONNREFUSED" && codeOf(cause) !== "ENOENT";
  }
}

interface SocketDial {
  readonly path: string;
  readonly withinMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** Opens a socket, which the caller destroys. @throws the system's error, SurfaceError `TIMEOUT`, or the reason of the signal. */
export function connectSocket({ path, withinMs, signal }: SocketDial): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ path });
    const undo: (() => void)[] = [];
    const settle = (): void => {
      for (const one of undo) one();
    };
    const fail = (cause: unknown): void => {
      settle();
      // A destroyed socket may still emit errors.
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
      systemClock.after(withinMs, () =>
        fail(new SurfaceError("TIMEOUT", `Cannot connect to "${path}": it took too long`)),
      ),
    );
    if (signal !== undefined) {
      undo.push(followSignal(signal, () => fail(createAbortedError(signal, `Cannot connect to "${path}"`))));
    }
  });
}
