import { folderOf, importsOf, type Source } from "../source.ts";

/** The folders of `src`, left to right: a file imports only from its own folder and from groups before its own. */
export const order: readonly (readonly string[])[] = [
  ["errors"],
  ["options"],
  ["tags", "schema", "spine", "json-rpc", "cluster"],
  ["redis"],
  ["surface"],
  ["observe"],
  ["audit", "otel"],
  ["links"],
  ["catalog"],
  ["from", "call"],
  ["views"],
  ["gateway"],
  ["mcp"],
  ["inspector"],
  ["stdio", "http", "sdk-v1"],
  ["builder"],
  ["lock"],
  ["testing", "cli"],
  ["index"],
];

/** Imports that the order would allow and the design forbids. */
export const forbidden: readonly { from: string; to: string; reason: string }[] = [
  {
    from: "builder",
    to: "http",
    reason: "a stdio server loads no HTTP code: http is reached through the ServeTarget port",
  },
  { from: "builder", to: "sdk-v1", reason: "an embedding is the caller's choice, and loads an optional package" },
];

/** Imports that the order would forbid and that are right all the same: path of the importer, folder, reason. */
export const exceptions: readonly { path: string; to: string; reason: string }[] = [
  {
    path: "src/tags/retag.ts",
    to: "surface",
    reason:
      "a tagged member is the same member type with another parameter; types alone, and cheaper than a copy of it",
  },
  {
    path: "src/tags/tool-options.ts",
    to: "surface",
    reason: "an option of tools is a function that receives a client and a caller; types alone",
  },
  {
    path: "src/tags/display-metadata.ts",
    to: "schema",
    reason:
      "the one import of a type from type-fest; a second would be renamed in the declarations that users see; types alone",
  },
  {
    path: "src/from/agent/index.ts",
    to: "builder",
    reason:
      "the entry of the package, which hands on what makes an app of an agent alone; nothing in the folder uses it",
  },
  {
    path: "src/from/orpc/index.ts",
    to: "builder",
    reason: "an entry: the short form that makes an app stands beside what it is made of",
  },
  {
    path: "src/from/openapi/index.ts",
    to: "builder",
    reason: "an entry: the short form that makes an app stands beside what it is made of",
  },
  {
    path: "src/from/trpc/index.ts",
    to: "builder",
    reason: "an entry: the short form that makes an app stands beside what it is made of",
  },
  {
    path: "src/from/agentic/index.ts",
    to: "builder",
    reason: "an entry: the short form that makes an app stands beside what it is made of",
  },
  {
    path: "src/from/invoker/index.ts",
    to: "builder",
    reason: "an entry: the short form that makes an app stands beside what it is made of",
  },
];

const rankOf = (folder: string): number => order.findIndex((group) => group.includes(folder));

function judge(from: string, to: string): string | undefined {
  if (from === to) return undefined;
  if (rankOf(from) === -1) return `folder "${from}" has no place in the order`;
  if (rankOf(to) === -1) return `folder "${to}" has no place in the order`;
  const ban = forbidden.find((one) => one.from === from && one.to === to);
  if (ban !== undefined) return `${from} imports ${to}: ${ban.reason}`;
  return rankOf(to) < rankOf(from) ? undefined : `${from} imports ${to}, which does not stand left of it`;
}

/** Imports, of values and of types alike, that run against the order of the folders. */
export function findWrongDirections(sources: readonly Source[]): string[] {
  return sources.flatMap((source) =>
    importsOf(source).flatMap(({ target, line }) => {
      if (target === undefined) return [];
      const to = folderOf(target);
      if (exceptions.some((one) => one.path === source.path && one.to === to)) return [];
      const problem = target.startsWith("src/")
        ? judge(folderOf(source.path), to)
        : `imports ${target}, outside of src`;
      return problem === undefined ? [] : [`${source.path}:${line} ${problem}`];
    }),
  );
}

/** Exceptions that no import needs any more. */
export function findUnusedExceptions(sources: readonly Source[]): string[] {
  return exceptions
    .filter(({ path, to }) => {
      const source = sources.find((one) => one.path === path);
      const targets = source === undefined ? [] : importsOf(source).map((one) => one.target);
      return !targets.some((target) => target !== undefined && folderOf(target) === to);
    })
    .map(({ path, to }) => `${path} -> ${to}`);
}
