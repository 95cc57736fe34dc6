import type { Surface } from "../../surface/define-surface.ts";
import type { Spec } from "../../surface/member.ts";
import type { Connection } from "../link.ts";
import { openWireClient, type WireClientOptions } from "../wire/open-wire-client.ts";
import { createStreamTransport } from "../transport/stream-transport.ts";
import type { WireTransport } from "../wire/transport.ts";
import { type Spawned, type SpawnSetting, startProcess } from "./spawned.ts";

/** What a connection to a process of ours is made of. */
export interface ChildClientSetting extends SpawnSetting, Pick<WireClientOptions, "signal" | "heartbeatMs"> {}

/** Milliseconds that a process may take to start and to answer, on a machine that is busy. */
const startMs = 10_000;

function toTransport(spawned: Spawned): WireTransport {
  const { input, output } = spawned;
  const stop = (): void => void spawned.stop();
  return createStreamTransport({
    input,
    output,
    end: stop,
    destroy: stop,
    explain: () => spawned.explain(),
  });
}

/**
 * Starts a process and connects to it over its standard input and output. It ends with the connection.
 *
 * @throws SurfaceError, as `childProcess()` says.
 */
export async function openChildClient<TSpec extends Spec>(
  surface: Surface<TSpec>,
  setting: ChildClientSetting,
): Promise<Connection<TSpec>> {
  const spawned = await startProcess(setting);
  try {
    const connection = await openWireClient(surface, toTransport(spawned), { handshakeMs: startMs, ...setting });
    const close = async (): Promise<void> => {
      await connection.close();
      await spawned.stop();
    };
    return Object.freeze({ ...connection, close });
  } catch (cause) {
    void spawned.stop();
    throw cause;
  }
}
