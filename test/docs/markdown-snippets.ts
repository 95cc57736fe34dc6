import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The root of the repository. */
export const root: string = fileURLToPath(new URL("../..", import.meta.url));

/** A piece of TypeScript that a reader may copy. */
export interface Snippet {
  /** Where it stands, for the name of its file and for messages. */
  readonly name: string;
  readonly code: string;
  /** What it prints when it is run, where a block of text right behind it says so. */
  readonly prints?: string;
}

// A block of "ts more" goes on where the one before it ended, as a reader does.
const fence = /^```ts(?<more> more)?\n(?<own>[\s\S]*?)^```$(?:\n\n^```text\n(?<said>[\s\S]*?)^```$)?/gm;

function toName(file: string, index: number): string {
  return `${file.replaceAll(/[^a-z0-9]+/gi, "-").toLowerCase()}-${index + 1}`;
}

/** The markdown files of the repository that people read. */
export function markdownFiles(): readonly string[] {
  const docs = readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" });
  return ["README.md", "AGENTS.md", ...docs.filter((file) => file.endsWith(".md")).map((file) => join("docs", file))];
}

/** Every ```ts block of a markdown file; one that goes on with the one before it has that one in front. */
export function snippetsOf(file: string): readonly Snippet[] {
  const text = readFileSync(join(root, file), "utf8");
  const snippets: Snippet[] = [];
  let printed = "";
  for (const { groups: { more, own = "", said } = {} } of text.matchAll(fence)) {
    const before = more === undefined ? undefined : snippets.at(-1);
    printed = (before === undefined ? "" : printed) + (said ?? "");
    const code = (before?.code ?? "") + own;
    snippets.push({ name: toName(file, snippets.length), code, ...(said === undefined ? {} : { prints: printed }) });
  }
  return snippets;
}

/** Every `@example` of the sources, without the comment's stars. */
export function examplesOf(file: string): readonly Snippet[] {
  const text = readFileSync(join(root, file), "utf8");
  const blocks = text.matchAll(/\* @example\n((?:\s+\*[^/\n]*(?:\/[^\n]*)?\n)+)/g);
  return [...blocks].flatMap(([, block = ""], index) => {
    const plain = block.replaceAll(/^\s+\* ?/gm, "");
    const code = /```ts\n([\s\S]*?)```/.exec(plain)?.[1];
    return code === undefined ? [] : [{ name: toName(file, index), code }];
  });
}

/** Every source file. */
export function sourceFiles(): readonly string[] {
  const files = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" });
  return files.filter((file) => file.endsWith(".ts")).map((file) => join("src", file));
}

/** The values that the package gives its users, by name. */
export function publicValues(): readonly string[] {
  const text = readFileSync(join(root, "src", "index.ts"), "utf8");
  return [...text.matchAll(/^export \{([^}]*)\} from/gm)].flatMap(([, names = ""]) => names.match(/\w+/g) ?? []);
}
