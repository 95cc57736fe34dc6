import { resolve } from "node:path";
import { compareExposures } from "../lock/compare-exposures.ts";
import { lockfileName, parseLockfile } from "../lock/lockfile.ts";
import { readExposure } from "../lock/read-exposure.ts";
import { readLockfile } from "../lock/read-lockfile.ts";
import { checkFormats, renderCheck, type CheckFormat } from "../lock/render-check.ts";
import { loadNamedApp, readAppArguments } from "./app-arguments.ts";
import { usage } from "./cli-errors.ts";
import type { CliEnvironment } from "./terminal.ts";

function readFormat(word = "text"): CheckFormat {
  const format = checkFormats.find((each) => each === word);
  if (format !== undefined) return format;
  throw usage(`Cannot check: "--format" must be ${checkFormats.join(", ")}, is "${word}"`);
}

/**
 * Compares an app with a lockfile, and writes the differences. Never writes the file.
 *
 * @returns 1 if they differ.
 * @throws Refusal `USAGE`, `LOCKFILE` or `UNREADABLE`, and any error of the app's module.
 */
export async function check(args: readonly string[], setting: CliEnvironment): Promise<0 | 1> {
  const given = readAppArguments(args, { base: { type: "string" }, format: { type: "string" } }, "Cannot check");
  const format = readFormat(given.text("format"));
  const base = given.text("base") ?? lockfileName;
  const text = base === "-" ? await setting.readInput() : readLockfile(resolve(setting.cwd, base));
  const before = parseLockfile(text);
  const differences = compareExposures(before, readExposure(await loadNamedApp(given, setting)));
  setting.write(renderCheck({ base: base === "-" ? "standard input" : base, differences }, format));
  return differences.length === 0 ? 0 : 1;
}
