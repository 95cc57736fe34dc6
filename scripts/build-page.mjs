import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { transform } from "esbuild";
import { rolldown } from "rolldown";

const root = fileURLToPath(new URL("..", import.meta.url));
const page = join(root, "page");

/** Returns the HTML, with the licence that the copies of the bundled package must carry. */
function readHtml() {
  const licence = readFileSync(join(root, "node_modules", "preact", "LICENSE"), "utf8").trim();
  return `${readFileSync(join(page, "index.html"), "utf8")}<!-- page.js contains preact:\n${licence}\n-->\n`;
}

/** Bundles the live page into the absolute path `out`: a script, a style sheet and the HTML that loads them. */
export async function buildPage(out) {
  mkdirSync(out, { recursive: true });
  const bundle = await rolldown({
    cwd: page,
    input: join(page, "main.tsx"),
    platform: "browser",
    tsconfig: false,
    transform: {
      target: "es2022",
      // Children as arguments are shorter than children in an object.
      jsx: { runtime: "classic", pragma: "h", pragmaFrag: "Fragment" },
      inject: { h: ["preact", "h"], Fragment: ["preact", "Fragment"] },
    },
  });
  await bundle.write({
    file: join(out, "page.js"),
    format: "esm",
    minify: true,
    comments: { annotation: false, jsdoc: false, legal: false },
  });
  await bundle.close();
  const styles = readFileSync(join(page, "page.css"), "utf8");
  writeFileSync(join(out, "page.css"), (await transform(styles, { loader: "css", minify: true })).code);
  writeFileSync(join(out, "index.html"), readHtml());
}
