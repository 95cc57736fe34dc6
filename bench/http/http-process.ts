import { ServerProcess } from "../driver/server-process.ts";

/** A server over HTTP in a process of its own. Whoever started it stops it. */
export interface HttpProcess {
  readonly server: ServerProcess;
  readonly port: number;
}

/** Starts a server over HTTP, and waits for it to listen. */
export async function startHttp(args: readonly string[]): Promise<HttpProcess> {
  const server = new ServerProcess(args, { owns: true });
  try {
    return { server, port: await server.owner.port() };
  } catch (cause) {
    await server.stop();
    throw cause;
  }
}
