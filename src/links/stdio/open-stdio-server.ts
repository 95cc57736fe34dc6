import type { Writable } from "node:stream";
import type { Scope } from "../../spine/scope.ts";
import type { Served } from "../../surface/implement-surface.ts";
import { systemClock } from "../../surface/system-clock.ts";
import { startListening, type Listening, type PeerOptions } from "../listening.ts";
import type { StdoutGuard } from "../stdout-guard.ts";
import { createStreamTransport } from "../transport/stream-transport.ts";
import { WireServer } from "../wire/wire-server.ts";

/** Options of {@link openStdioServer}. */
export interface StdioServerOptions extends PeerOptions {
  readonly live: Served;
  /** Restored when it closes. */
  readonly guard: StdoutGuard;
}

/** Milliseconds that the far side may take to read the last messages. */
const flushMs = 500;

/** Waits until everything was read, or the time is over. */
async function flush(output: Writable): Promise<void> {
  await new Promise<void>((resolve) => {
    const stop = systemClock.after(flushMs, resolve);
    output.write("", () => {
      stop();
      resolve();
    });
  });
}

async function open(options: StdioServerOptions, scope: Scope): Promise<object> {
  const { guard } = options;
  const { output } = guard;
  scope.add(() => guard.restore());
  scope.add(() => flush(output));
  const input = process.stdin;
  const transport = createStreamTransport({
    input,
    output,
    // Standard output cannot be ended; the goodbye says that nothing follows.
    end: () => {},
    // A paused input does not keep the process alive.
    destroy: () => void input.pause(),
    isWary: true,
  });
  const peer = new WireServer(options.live, transport, options);
  scope.add(() => peer.close());
  void peer.closed.then(() => scope.close());
  return {};
}

/** Serves over standard input and output. @throws SurfaceError as `serveOverStdio()`. */
export function openStdioServer(options: StdioServerOptions): Promise<Listening> {
  return startListening({
    live: options.live,
    where: "standard input",
    open: (scope) => open(options, scope),
  });
}
