/**
 * `npm run docs`: builds the documentation site into `site/.work/dist`: README, guides, and the reference of every export,
 * with search, `llms.txt` and `llms-full.txt`. Fails on a dead link. `npm run docs -- --serve` then serves it on a local port.
 *
 * The generators are a package of their own in `site/`, installed on the first run.
 */
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const site = fileURLToPath(new URL(".", import.meta.url));
const root = join(site, "..");
const pages = join(site, ".work", "pages");
const { repository } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const source = `${repository.url.replace(/^git\+|\.git$/g, "")}/blob/main/`;

function run(command, args) {
  const { status } = spawnSync(command, args, { cwd: site, stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
}

/** Links to files that are no page, such as examples, lead to the repository. */
function linkToSource(path) {
  const text = readFileSync(path, "utf8");
  const linked = text.replaceAll(/\]\((?!https?:|#|mailto:)([^)\s#]+)(#[^)]*)?\)/g, (link, target, anchor = "") => {
    const wanted = join(dirname(path), target);
    const inRepository = relative(pages, wanted);
    if (existsSync(wanted) && statSync(wanted).isFile()) return link;
    return existsSync(join(root, inRepository)) ? `](${source}${inRepository}${anchor})` : link;
  });
  if (linked !== text) writeFileSync(path, linked);
}

/** Titles each page of the reference as the entry is imported. */
function nameEntries() {
  const folder = join(pages, "reference");
  for (const name of readdirSync(folder, { recursive: true })) {
    if (!name.endsWith(".md") || name === "index.md") continue;
    const path = join(folder, name);
    const entry = name === "index-1.md" ? "surface-mcp" : `surface-mcp/${name.slice(0, -3)}`;
    writeFileSync(path, readFileSync(path, "utf8").replace(/^# .*/, `# ${entry}`));
  }
}

rmSync(pages, { recursive: true, force: true });
mkdirSync(pages, { recursive: true });
if (!existsSync(join(site, "node_modules"))) run("npm", ["ci", "--no-audit", "--no-fund"]);
cpSync(join(root, "README.md"), join(pages, "README.md"));
cpSync(join(root, "docs"), join(pages, "docs"), { recursive: true });
for (const name of readdirSync(pages, { recursive: true })) if (name.endsWith(".md")) linkToSource(join(pages, name));
console.log("reading the exports");
run("npx", ["typedoc"]);
nameEntries();
run("npx", ["vitepress", "build", "."]);
console.log(`\nthe site is in ${relative(process.cwd(), join(site, ".work", "dist"))}`);
if (process.argv.includes("--serve")) run("npx", ["vitepress", "preview", "."]);
