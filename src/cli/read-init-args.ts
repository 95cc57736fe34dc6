import { isAbsolute, resolve } from "node:path";
import { parseArgs, type ParseArgsConfig } from "node:util";
import { usage } from "./cli-errors.ts";

/** The templates of `init`: folders of `templates/`. */
export const templateNames = ["stdio", "express"] as const;

/** The name of a template. */
export type TemplateName = (typeof templateNames)[number];

/** The arguments of `init`. */
export interface InitRequest {
  /** The folder as the user wrote it. */
  readonly folder: string;
  readonly template: TemplateName;
  /** The version or archive of this package that the project depends on; `undefined` for the running version. */
  readonly packageSpec: string | undefined;
}

const options = {
  template: { type: "string", default: "stdio" },
  package: { type: "string" },
} as const satisfies ParseArgsConfig["options"];

const doing = "Cannot create a project";

function readTemplate(word: string): TemplateName {
  const found = templateNames.find((name) => name === word);
  if (found === undefined) throw usage(`${doing}: "--template" must be ${templateNames.join(" or ")}, is "${word}"`);
  return found;
}

/** Makes a path absolute: npm reads one in a manifest from the folder of that manifest, the user wrote it from the working folder. */
function readPackage(spec: string | undefined, cwd: string): string | undefined {
  if (spec === undefined) return undefined;
  if (spec === "") throw usage(`${doing}: "--package" must not be empty`);
  // A URL of an archive has a colon.
  const isPath = spec.startsWith(".") || isAbsolute(spec) || /^[^:]*\.tgz$/.test(spec);
  return isPath ? `file:${resolve(cwd, spec)}` : spec;
}

/**
 * Reads the arguments of `init`.
 *
 * @throws Refusal `USAGE`.
 */
export function readInitArgs(args: readonly string[], cwd: string): InitRequest {
  const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true, strict: true });
  const [folder = ".", ...more] = positionals;
  if (more.length > 0) throw usage(`${doing}: name one folder, not ${positionals.length}`);
  if (folder === "") throw usage(`${doing}: the folder must not be empty`);
  return { folder, template: readTemplate(values.template), packageSpec: readPackage(values.package, cwd) };
}
