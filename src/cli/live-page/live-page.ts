import { resolve } from "node:path";
import { SurfaceError } from "../../errors.ts";
import { readPageFiles } from "../../http/inspector/page-files.ts";
import { openPageServer, type PageServer } from "../../http/inspector/page-server.ts";
import { onProcessEnd } from "../../links/on-process-end.ts";
import { escapeInvisible } from "../../schema/visible-text.ts";
import { readPort, type CommandArguments } from "../app-arguments.ts";
import { usage } from "../cli-errors.ts";
import type { CliEnvironment } from "../terminal.ts";
import { SocketInspector } from "./socket-inspector.ts";

const doing = "Cannot show the live page";

function readSocket(socket: string, { cwd }: CliEnvironment): string {
  if (!/^[a-z]+:\/\//i.test(socket)) return resolve(cwd, socket);
  const remedy = 'start that server with "http({ inspector: true })", and open the link that it prints';
  throw usage(`${doing}: "${socket}" is a URL, and "--web" takes the socket of a server over stdio; ${remedy}`);
}

async function open(path: string, port: number, { complain }: CliEnvironment): Promise<[SocketInspector, PageServer]> {
  const say = (text: string): void => complain(`surface-mcp: ${escapeInvisible(text)}\n`);
  const files = await readPageFiles();
  const inspector = new SocketInspector(path, (isAway) =>
    say(isAway ? "the server is away; the page waits for it" : "the server is back"),
  );
  await inspector.connect().catch((cause: unknown) => {
    if (!(cause instanceof SurfaceError) || cause.code !== "UNAVAILABLE") throw cause;
    const remedy = `start the server with SURFACE_MCP_INSPECT=${path}`;
    throw new SurfaceError(cause.code, `${cause.message}; ${remedy}`, { cause });
  });
  const fail = (cause: unknown): void => say(cause instanceof Error ? cause.message : String(cause));
  try {
    return [inspector, await openPageServer(port, { inspector, files, approve: false, fail })];
  } catch (cause) {
    inspector.close();
    throw cause;
  }
}

/**
 * Serves the live page of a server over stdio on this machine, and writes its link, until the process ends.
 *
 * @throws Refusal `USAGE`, SurfaceError as `SocketInspector.connect()` and `openPageServer()`.
 */
export async function showLivePage(socket: string, given: CommandArguments, setting: CliEnvironment): Promise<never> {
  const path = readSocket(socket, setting);
  const [inspector, server] = await open(path, readPort(given, 0, doing), setting);
  setting.write(`${server.link()}\n`);
  return new Promise<never>(() => {
    onProcessEnd({
      exit: true,
      end: async () => {
        inspector.close();
        await server.close();
      },
    });
  });
}
