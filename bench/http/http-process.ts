import { ServerProcess } from "../driver/server-process.ts";
import type { Place } from "../tools/orders.ts";

/** A server over HTTP in a process of its own. Whoever started it stops it. */
export interface HttpProcess extends Place {
  readonly server: ServerProcess;
}

/** Starts a server over HTTP, and waits for it to listen. */
export async function startHttp(args: readonly string[]): Promise<HttpProcess> {
  const server = new ServerProcess(args, { owns: true });
  try {
    return { server, ...(await server.owner.place()) };
  } catch (cause) {
    await server.stop();
    throw cause;
  }
}
