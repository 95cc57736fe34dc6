import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitepress";
import llmstxt from "vitepress-plugin-llms";

const work = fileURLToPath(new URL("../.work/", import.meta.url));
const pages = join(work, "pages");

/** Returns the links of an index page by its headings, and by the first cell of the head of each table. */
function readIndex(path) {
  const groups = [];
  for (const line of readFileSync(join(pages, path), "utf8").split("\n")) {
    const [, heading = /^\| ([a-z][^|[]*?) *\|/.exec(line)?.[1]] = /^## (.+)/.exec(line) ?? [];
    if (heading !== undefined && heading !== "page") groups.push({ text: heading, collapsed: false, items: [] });
    for (const [, text, target] of line.matchAll(/\[([^\]]+)\]\(((?!\.\.|https?:)[^)#]+\.md)\)/g)) {
      groups.at(-1)?.items.push({ text: text.replaceAll("`", ""), link: `/docs/${target.replace(/\.md$/, "")}` });
    }
  }
  return groups
    .filter(({ items }) => items.length > 0)
    .map((group) => ({ ...group, text: group.text[0].toUpperCase() + group.text.slice(1) }));
}

/** Returns the pages of the reference, one for each entry of the package. */
function readReference() {
  const folder = join(pages, "reference");
  const names = existsSync(folder) ? readdirSync(folder, { recursive: true }) : [];
  const items = names
    .filter((name) => name.endsWith(".md") && name !== "index.md")
    .map((name) => ({
      text: readFileSync(join(folder, name), "utf8").split("\n", 1)[0].slice(2),
      link: `/reference/${name.slice(0, -3)}`,
    }))
    .toSorted((one, other) => one.text.localeCompare(other.text));
  return [{ text: "API reference", collapsed: false, items }];
}

const sidebar = [...readIndex("docs/README.md"), ...readReference()];

// https://vitepress.dev/reference/site-config
export default defineConfig({
  title: "surface-mcp",
  description:
    "Name what an AI agent may touch beside its definition, and get an MCP server that is default-deny by the compiler.",
  lang: "en",
  srcDir: pages,
  outDir: join(work, "dist"),
  cacheDir: join(work, "cache"),
  rewrites: { "README.md": "index.md" },
  cleanUrls: true,
  // Text such as `Cell<V>` in a sentence is no element.
  markdown: { html: false },
  vite: {
    build: { chunkSizeWarningLimit: 4000 },
    plugins: [
      llmstxt({ workDir: pages, injectLLMHint: false, ignoreFiles: ["docs/decisions/*", "docs/contributing/*"] }),
    ],
    logLevel: "warn",
  },
  themeConfig: {
    search: { provider: "local" },
    outline: [2, 3],
    nav: [
      { text: "Guides", link: "/docs/README" },
      { text: "API reference", link: "/reference/" },
    ],
    sidebar,
  },
});
