import { resolve } from "node:path";
import { visibleText } from "../schema/visible-text.ts";
import type { CliSetting } from "./cli-setting.ts";
import { readInitArgs } from "./read-init-args.ts";
import { readTemplate } from "./read-template.ts";
import { writeNewFiles } from "./write-new-files.ts";

function changeTo(folder: string): string {
  const shown = visibleText(folder);
  return /^[\w./-]+$/.test(shown) ? `cd ${shown} && ` : `cd "${shown}" && `;
}

/**
 * Writes a new project into a folder: a server, its tests, and the list of what an agent can reach. Asks nothing.
 *
 * @throws Refusal `USAGE` or `REFUSED`; nothing has been written then.
 */
export async function init(args: readonly string[], setting: CliSetting): Promise<void> {
  const { folder, template, packageSpec } = readInitArgs(args, setting.cwd);
  const target = resolve(setting.cwd, folder);
  const files = readTemplate(template, packageSpec);
  await writeNewFiles(target, files);
  const written = [...files.keys()].map((path) => `  ${path}\n`).join("");
  setting.write(`wrote ${files.size} files to "${visibleText(target)}":\n${written}`);
  setting.write(`\nnext:\n  ${target === setting.cwd ? "" : changeTo(folder)}npm install\n  npm start\n`);
}
