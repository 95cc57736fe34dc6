import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { listFiles, root } from "../architecture/source.ts";

const read = (name: string): Buffer => readFileSync(join(root, "dist", "page", name));

describe("the built page", () => {
  it("has a script and a style sheet of 60 kB together, 20 kB compressed, when it is built", () => {
    const files = [read("page.js"), read("page.css")];
    const sum = (sizes: readonly number[]): number => sizes.reduce((all, one) => all + one, 0);
    expect(sum(files.map((file) => file.length))).toBeLessThanOrEqual(60_000);
    expect(sum(files.map((file) => gzipSync(file, { level: 9 }).length))).toBeLessThanOrEqual(20_000);
  });

  it("has no inline script, style or handler, nor a URL of another place, when it is built", () => {
    const html = read("index.html").toString();
    expect(html).not.toMatch(/<style|\sstyle=|\son\w+=|<script(?![^>]*\ssrc="page\.js")/i);
    expect(html.replaceAll(/<!--[^]*?-->/g, "")).not.toContain("://");
    expect(read("page.css").toString()).not.toMatch(/url\(|@import/);
  });

  it("carries the licence of the package that it contains when it is built", () => {
    expect(read("index.html").toString()).toContain("Copyright (c) 2015-present Jason Miller");
  });
});

describe("the sources of the page", () => {
  const sources = listFiles("page", ".ts").concat(listFiles("page", ".tsx"));
  const textOf = (path: string): string => readFileSync(join(root, path), "utf8");

  it("import their own files and preact, and of src only types of messages and JSON, when they are read", () => {
    const foreign = sources.flatMap((path) =>
      Array.from(textOf(path).matchAll(/^(?:import|export)\b[^;]*?from "([^"]+)";/gm), ([statement, from = ""]) => ({
        statement,
        from,
      })).filter(({ statement, from }) => {
        const isType = statement.startsWith("import type ");
        const isContract = /^(?:\.\.\/){1,2}src\/(?:inspector\/messages|schema\/json)\.ts$/.test(from);
        const isOwn = /^\.{1,2}\//.test(from) && !from.includes("/src/");
        return !(isOwn || from === "preact" || (isType && isContract));
      }),
    );
    expect(sources.length).toBeGreaterThan(20);
    expect(foreign).toEqual([]);
  });

  it("write text of applications as text nodes only, and name no URL but the icon's, when they are read", () => {
    const forbidden =
      /innerHTML|outerHTML|insertAdjacent|document\.write|\beval\(|new Function|\b(?:href|src(?!="icon\.svg")|srcdoc)=/;
    expect(sources.filter((path) => forbidden.test(textOf(path)))).toEqual([]);
  });
});
