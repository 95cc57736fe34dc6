import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitepress";
import llmstxt from "vitepress-plugin-llms";

const work = fileURLToPath(new URL("../.work/", import.meta.url));
const pages = join(work, "pages");

/** Returns the links of an index page by its headings: `## Start`, then `- [Expose](guide/expose.md): …`. */
function readIndex(path) {
  const groups = [];
  for (const line of readFileSync(join(pages, path), "utf8").split("\n")) {
    const [, heading] = /^## (.+)/.exec(line) ?? [];
    if (heading !== undefined) groups.push({ text: heading, items: [] });
    for (const [, text, target] of line.matchAll(/\[([^\]]+)\]\(((?!\.\.|https?:)[^)#]+\.md)\)/g)) {
      groups.at(-1)?.items.push({ text: text.replaceAll("`", ""), link: `/docs/${target.replace(/\.md$/, "")}` });
    }
  }
  return groups.filter(({ items }) => items.length > 0);
}

function readReference() {
  const folder = join(pages, "reference");
  if (!existsSync(folder)) return [];
  const items = readdirSync(folder)
    .filter((name) => name.endsWith(".md") && name !== "index.md")
    .toSorted()
    .map((name) => ({ text: name.replace(/\.md$/, "").replaceAll("_", "/"), link: `/reference/${name.slice(0, -3)}` }));
  return [{ text: "API reference", items }];
}

const sidebar = [...readIndex("docs/README.md"), ...readReference()];

// https://vitepress.dev/reference/site-config
// oxlint-disable-next-line import/no-default-export -- VitePress reads the default export.
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
    plugins: [llmstxt({ workDir: pages, ignoreFiles: ["docs/decisions/*", "docs/contributing/*"] })],
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
