import { type Era, initialized, toOpening } from "./requests.ts";
import { type ProcessOptions, ServerProcess } from "./server-process.ts";

/** The two servers that are compared: `ours` and the one `written` by hand. */
export type Side = "ours" | "written";

/** Both, in the order in which they are shown. */
export const sides: readonly Side[] = ["ours", "written"];

/** How a server is started: the arguments of `node`, for each side. */
export type Commands = Readonly<Record<Side, readonly string[]>>;

/** Starts a server and opens a session with it. The caller stops it. */
export async function openSession(
  args: readonly string[],
  era: Era,
  options: ProcessOptions = {},
): Promise<ServerProcess> {
  const server = new ServerProcess(args, options);
  await server.ask(toOpening(era));
  if (era === "legacy") server.write(initialized);
  return server;
}
