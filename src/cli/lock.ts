import { resolve } from "node:path";
import { lockfileName, toLockfileText } from "../lock/lockfile.ts";
import { readExposure } from "../lock/read-exposure.ts";
import { renderCounts } from "../lock/render-check.ts";
import { escapeInvisible } from "../schema/visible-text.ts";
import { loadNamedApp, readAppArguments } from "./app-arguments.ts";
import { writeLockfile } from "./lockfiles.ts";
import type { CliEnvironment } from "./terminal.ts";

/**
 * Writes everything that agents can reach in an app to a lockfile.
 *
 * @throws Refusal `USAGE`, `REFUSED` or `UNREADABLE`, and any error of the app's module; the file is unchanged then.
 */
export async function lock(args: readonly string[], setting: CliEnvironment): Promise<void> {
  const given = readAppArguments(args, { out: { type: "string" } }, "Cannot lock");
  const name = given.text("out") ?? lockfileName;
  const exposure = readExposure(await loadNamedApp(given, setting));
  await writeLockfile(resolve(setting.cwd, name), toLockfileText(exposure));
  setting.write(`wrote ${escapeInvisible(name)}: ${renderCounts(exposure)}\n`);
}
