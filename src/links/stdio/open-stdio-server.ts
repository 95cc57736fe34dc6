import type { Writable } from "node:stream";
import type { Scope } from "../../spine/scope.ts";
import type { Served } from "../../surface/implement-surfaces.ts";
import type { Listening } from "../listening.ts";
import type { PeerOptions } from "../serve-peers.ts";
import { startListening } from "../start-listening.ts";
import type { StdoutGuard } from "../stdout-guard.ts";
import { systemClock } from "../../surface/system-clock.ts";
import { createStreamTransport } from "../transport/stream-transport.ts";
import { serveWire } from "../wire/serve-wire.ts";

/** What a server over standard input and output is made of. */
export interface StdioServerSetting extends PeerOptions {
  readonly live: Served;
  /** Restored when it closes. */
  readonly guard: StdoutGuard;
}

/** How long the far side may take to read what was written last. */
const flushMs = 500;

/** Waits until everything was taken, or for so long. */
async function flush(output: Writable): Promise<void> {
  await new Promise<void>((resolve) => {
    const stop = systemClock.after(flushMs, resolve);
    output.write("", () => {
      stop();
      resolve();
    });
  });
}

async function open(setting: StdioServerSetting, scope: Scope): Promise<object> {
  const { guard } = setting;
  const { output } = guard;
  scope.add(() => guard.restore());
  scope.add(() => flush(output));
  const input = process.stdin;
  const transport = createStreamTransport({
    input,
    output,
    // Standard output cannot be ended; that nothing follows is said by the goodbye.
    end: () => {},
    // An input that nobody reads does not keep the process alive.
    destroy: () => void input.pause(),
    isWary: true,
  });
  const peer = serveWire(setting.live, transport, setting);
  scope.add(() => peer.close());
  void peer.closed.then(() => scope.close());
  return {};
}

/**
 * Serves over standard input and output.
 *
 * @throws SurfaceError, as `serveOverStdio()` says.
 */
export function openStdioServer(setting: StdioServerSetting): Promise<Listening> {
  return startListening({
    live: setting.live,
    where: "standard input",
    open: (scope) => open(setting, scope),
  });
}
