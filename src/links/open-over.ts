import { SurfaceError } from "../errors.ts";
import type { Surface } from "../surface/define-surface.ts";
import type { Spec } from "../surface/member.ts";
import type { Connection } from "./link.ts";
import { openWireClient } from "./wire/open-wire-client.ts";
import type { WireTransport } from "./wire/transport.ts";

/** What every client may be told. */
export interface ClientOptions {
  readonly signal?: AbortSignal | undefined;
  readonly heartbeatMs?: number | undefined;
}

/**
 * Opens a connection over a transport, which it owns from now on. Where the transport breaks before there is one, nothing
 * was lost with it.
 *
 * @throws SurfaceError, as `openWireClient()` does, and `UNAVAILABLE` in the place of `DISCONNECTED`.
 */
export async function openOver<TSpec extends Spec>(
  surface: Surface<TSpec>,
  transport: WireTransport,
  { signal, heartbeatMs }: ClientOptions,
): Promise<Connection<TSpec>> {
  try {
    return await openWireClient(surface, transport, {
      ...(signal === undefined ? {} : { signal }),
      ...(heartbeatMs === undefined ? {} : { heartbeatMs }),
    });
  } catch (cause) {
    if (!(cause instanceof SurfaceError) || cause.code !== "DISCONNECTED") throw cause;
    const what = `Connecting to surface "${surface.name}"`;
    throw new SurfaceError("UNAVAILABLE", `${what}: the far side went before it had answered`, { cause });
  }
}
