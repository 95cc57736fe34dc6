/**
 * Checks how the texts of this repository are written, and holds each rule to a committed number that may only fall.
 *
 * Reads the comments of `src`, README.md, AGENTS.md and `docs`. The numbers are in `scripts/word-counts.json`, one a rule.
 * More findings than the number fail the check. Fewer ask for a lower number, which `--update` writes. `--list RULE`
 * prints every finding of a rule, `--root FOLDER` checks another folder.
 */
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { parseSync } from "oxc-parser";

const { values: options } = parseArgs({
  options: {
    list: { type: "string" },
    root: { type: "string", default: fileURLToPath(new URL("..", import.meta.url)) },
    update: { type: "boolean", default: false },
  },
});
const countsFile = join(options.root, "scripts", "word-counts.json");

/** The target of each rule. A check may never ask for less than this. */
const targets = {
  docCommentOpenings: (totals) => Math.floor(totals.docComments * 0.03),
  forbiddenWords: () => 0,
  longSentences: () => 0,
  homonyms: () => 0,
  bannedSuffixes: () => 0,
  readmeLines: () => 160,
  readmeWords: () => 950,
  agentsLines: () => 120,
};

const badOpening = /^(?:what|whether|who|whoever|where|those|that|how|it)\b/i;
/** The start of a field whose type or first value is boolean: the one place where "Whether …" is the best opening. */
const booleanField =
  /^\s*(?:(?:public|protected|private|static|override|readonly|declare)\s+)*[#\w"'[\]]+\??(?::\s*boolean\b|\s*=\s*(?:true|false)\b)/;
const forbidden = new RegExp(
  `\\b(?:${[
    ...["whoever", "whatever", "nobody", "anybody", "somebody", "whom", "anew", "besides", "comes to", "is none"],
    ...[
      "none of ours",
      "by and by",
      "of its own",
      "is told",
      "is said",
      "has it that",
      "to be had",
      "lets go",
      "no word of",
    ],
  ]
    .join("|")
    .replaceAll(" ", "\\s+")})\\b`,
  "gi",
);
const bannedSuffix = /\b(?:interface|type|class)\s+([A-Z]\w*(?:Setting|Parts|Terms|Told|Words))\b/g;
const exported =
  /^export\s+(?:declare\s+)?(?:abstract\s+)?(?:async\s+)?(?:function\s*\*?|class|interface|type|const|let|enum)\s+(\w+)/gm;
const longestSentence = 30;

function filesUnder(folder, extension) {
  return readdirSync(join(options.root, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(extension))
    .toSorted()
    .map((name) => join(options.root, folder, name));
}

/** Blanks out a match and keeps its line breaks, so that offsets and line numbers stay right. */
const blank = (text) => text.replaceAll(/[^\n]/g, " ");
const lineOf = (text, offset) => text.slice(0, offset).split("\n").length;

/** Findings of one run: rule -> lines for people. */
const found = new Map(Object.keys(targets).map((rule) => [rule, []]));
const totals = { docComments: 0 };
const report = (rule, [file, line], text) => found.get(rule).push(`${relative(options.root, file)}:${line}  ${text}`);

/** Code is not prose: only what stands outside of backticks and `{@link …}` is checked. */
const withoutCode = (text) => text.replaceAll(/`[^`]*`|\{@\w+[^}]*\}/g, blank);

function checkForbidden(file, text, firstLine) {
  const prose = withoutCode(text).replaceAll(/^[ \t]*\*/gm, blank);
  for (const { 0: word, index } of prose.matchAll(forbidden)) {
    report("forbiddenWords", [file, firstLine + lineOf(text, index) - 1], word.replaceAll(/\s+/g, " "));
  }
}

function checkComment(file, source, comment) {
  const line = lineOf(source, comment.start);
  checkForbidden(file, comment.value, line);
  if (comment.type !== "Block" || !comment.value.startsWith("*")) return;
  totals.docComments += 1;
  const opening = comment.value.replace(/^[\s*]+/, "");
  if (!badOpening.test(opening)) return;
  if (/^whether\b/i.test(opening) && booleanField.test(source.slice(comment.end))) return;
  report("docCommentOpenings", [file, line], opening.split("\n", 1)[0]);
}

/** Joins line comments that stand below each other: a phrase may go on in the next line. */
function joinLines(source, comments) {
  const joined = [];
  for (const comment of comments) {
    const last = joined.at(-1);
    const isNext = last?.type === "Line" && /^\n[ \t]*$/.test(source.slice(last.end, comment.start));
    if (comment.type !== "Line" || !isNext) joined.push({ ...comment });
    else Object.assign(last, { end: comment.end, value: `${last.value}\n${comment.value}` });
  }
  return joined;
}

function checkSources() {
  const declared = new Map();
  for (const file of filesUnder("src", ".ts")) {
    const source = readFileSync(file, "utf8");
    const { comments } = parseSync(file, source);
    for (const comment of joinLines(source, comments)) checkComment(file, source, comment);
    let code = source;
    for (const { start, end } of comments)
      code = code.slice(0, start) + blank(code.slice(start, end)) + code.slice(end);
    for (const { 1: name, index } of code.matchAll(bannedSuffix))
      report("bannedSuffixes", [file, lineOf(code, index)], name);
    for (const { 1: name, index } of code.matchAll(exported)) {
      const places = declared.get(name) ?? new Map();
      declared.set(name, places.set(file, lineOf(code, index)));
    }
  }
  for (const [name, places] of declared) {
    const [first, second] = places;
    if (second !== undefined)
      report("homonyms", second, `${name}, exported by ${relative(options.root, first[0])} too`);
  }
}

/** Splits Markdown into blocks of prose: paragraphs, list items, table cells and headings, without code. */
function* proseBlocks(text) {
  let block = { line: 1, text: "" };
  let number = 0;
  for (const line of text.split("\n")) {
    number += 1;
    const isStart = /^\s*(?:[-*+]\s|\d+\.\s|#|\||>|$)/.test(line);
    if (isStart) {
      yield block;
      block = { line: number, text: "" };
    }
    if (/^\s*\|/.test(line)) for (const cell of line.split("|")) yield { line: number, text: cell };
    else block.text += ` ${line.replace(/^\s*(?:[-*+]|\d+\.|#+|>)\s/, "")}`;
  }
  yield block;
}

function checkDocument(file) {
  const text = readFileSync(file, "utf8");
  const prose = text.replaceAll(/^([ \t]*)(`{3,}|~{3,})[\s\S]*?^\1\2[ \t]*$|<!--[\s\S]*?-->|\]\([^)]*\)/gm, blank);
  checkForbidden(file, prose, 1);
  for (const block of proseBlocks(prose.replaceAll(/`[^`]*`/g, (code) => `x${blank(code).slice(1)}`))) {
    for (const sentence of block.text.replaceAll(/\b(e\.g|i\.e|etc|vs)\./g, "$1").split(/[.!?](?=["')*_]*\s)/)) {
      const words = sentence.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word));
      if (words.length > longestSentence)
        report(
          "longSentences",
          [file, block.line],
          `${words.length} words: ${sentence.trim().replaceAll(/\s+/g, " ").slice(0, 60)}…`,
        );
    }
  }
}

/** Limits on the size of a whole file: one finding a line or word, so that the number is its size. */
function measure(name) {
  const text = readFileSync(join(options.root, name), "utf8");
  return { lines: text.trimEnd().split("\n").length, words: text.split(/\s+/).filter(Boolean).length };
}

function countAll() {
  checkSources();
  for (const name of ["README.md", "AGENTS.md"]) checkDocument(join(options.root, name));
  for (const file of filesUnder("docs", ".md")) checkDocument(file);
  const counts = Object.fromEntries([...found].map(([rule, lines]) => [rule, lines.length]));
  const readme = measure("README.md");
  return { ...counts, readmeLines: readme.lines, readmeWords: readme.words, agentsLines: measure("AGENTS.md").lines };
}

/** Returns the numbers to record: never more than before, never below the target. */
function lowered(counts, recorded) {
  return Object.fromEntries(
    Object.keys(targets).map((rule) => {
      const target = targets[rule](totals);
      return [rule, Math.max(target, Math.min(counts[rule], recorded[rule] ?? target))];
    }),
  );
}

function judge(counts, recorded) {
  const broken = Object.keys(targets).filter((rule) => counts[rule] > (recorded[rule] ?? 0));
  for (const rule of broken) {
    console.error(`${rule}: ${counts[rule]} found, ${recorded[rule] ?? 0} allowed.`);
    if (found.get(rule).length > 0) console.error(`  List them: npm run check:words -- --list ${rule}`);
  }
  if (broken.length > 0) return 1;
  const next = lowered(counts, recorded);
  const fallen = Object.keys(targets).filter((rule) => next[rule] < recorded[rule]);
  if (fallen.length > 0 && options.update) writeFileSync(countsFile, `${JSON.stringify(next, null, 2)}\n`);
  for (const rule of fallen) console.log(`${rule}: ${counts[rule]} found, ${recorded[rule]} allowed.`);
  if (fallen.length > 0) console.log(options.update ? "Lowered." : "Lower them: npm run check:words -- --update");
  return 0;
}

const counts = countAll();
if (options.list !== undefined) {
  for (const text of found.get(options.list) ?? []) console.log(text);
} else {
  process.exitCode = judge(counts, JSON.parse(readFileSync(countsFile, "utf8")));
}
