import { escapeInvisible, toVisibleJson } from "../schema/visible-text.ts";
import { diffValues, listFields } from "./diff-lines.ts";
import type { Difference } from "./difference.ts";
import { countRecords, type AppExposure, type Section } from "./exposure.ts";

/** The result of a comparison with a lockfile. */
export interface CheckResult {
  /** The name of the lockfile. */
  readonly base: string;
  readonly differences: readonly Difference[];
}

/** The forms of a result. */
export const checkFormats = ["text", "markdown", "json", "github"] as const;

/** A form of a result. */
export type CheckFormat = (typeof checkFormats)[number];

const nouns: Readonly<Record<Section, string>> = {
  ...{ server: "server", mounts: "mount", views: "view", tools: "tool" },
  ...{ resources: "resource", templates: "template", prompts: "prompt" },
};

/** A heading, and the differences below it. */
interface Group {
  readonly title: string;
  readonly label: string;
  readonly has: (difference: Difference) => boolean;
}

const widens = ({ reach }: Difference): boolean => reach === "widens";
const breaks = ({ contract }: Difference): boolean => contract === "breaking";
const groups: readonly Group[] = [
  { title: "Widens what agents can reach", label: "Widens", has: widens },
  { title: "Breaks agents", label: "Breaks", has: (each) => !widens(each) && breaks(each) },
  { title: "Other changes", label: "Other", has: (each) => !widens(each) && !breaks(each) },
];

function changeOf({ change, field, before, after }: Difference, quote: (text: string) => string): string {
  if (change === "renamed") return `renamed from ${quote(typeof before === "string" ? before : "")}`;
  if (change !== "changed") return change;
  if (before === undefined) return `${quote(field)} added`;
  return after === undefined ? `${quote(field)} removed` : `${quote(field)} changed`;
}

/** Returns the sentence about a difference, for example `tool "note_add": "description" changed`. */
function sentenceOf(difference: Difference, quote: (text: string) => string): string {
  const { section, name } = difference;
  const also = widens(difference) && breaks(difference) ? ", and breaks agents" : "";
  return `${nouns[section]} ${quote(name)}: ${changeOf(difference, quote)}${also}`;
}

const quoteText = (text: string): string => `"${escapeInvisible(text)}"`;

/** Returns a difference as plain text, for example `tool "note_add": "description" changed`. */
export function toSentence(difference: Difference): string {
  return sentenceOf(difference, quoteText);
}

const quoteCode = (text: string): string => `\`${escapeInvisible(text).replaceAll("`", "'")}\``;

/** Lines of one difference. Texts and schemas may be long; the JSON form has all of them. */
const maxLines = 80;

function linesOf({ change, before, after }: Difference): readonly string[] {
  const lines = {
    added: () => listFields(after, "+"),
    removed: () => listFields(before, "-"),
    renamed: () => [],
    changed: () => diffValues(before, after),
  }[change]();
  const left = lines.length - maxLines;
  return left <= 0 ? lines : [...lines.slice(0, maxLines), `  … ${left} more lines`];
}

function count(differences: readonly Difference[], has: (difference: Difference) => boolean): number {
  return differences.filter(has).length;
}

function counts({ differences }: CheckResult): string {
  return `${differences.length} in all, ${count(differences, widens)} widen the reach of agents, ${count(differences, breaks)} break agents`;
}

function renderText(result: CheckResult): string {
  const { base, differences } = result;
  if (differences.length === 0) return `${escapeInvisible(base)} is up to date\n`;
  const parts = groups.map(({ title, has }) => {
    const lines = differences
      .filter(has)
      .flatMap((each) => [`  ${sentenceOf(each, quoteText)}`, ...linesOf(each).map((line) => `    ${line}`)]);
    return lines.length === 0 ? "" : `\n${title}\n${lines.map((line) => `${line.trimEnd()}\n`).join("")}`;
  });
  return `${escapeInvisible(base)} differs from the app: ${counts(result)}\n${parts.join("")}`;
}

/** Characters of a comment on a pull request. GitHub takes 65,536. */
const maxMarkdown = 60_000;

/** Returns lines in a block of code, whose fence is longer than any in the lines. */
function fence(lines: readonly string[]): string {
  if (lines.length === 0) return "";
  const longest = Math.max(2, ...(lines.join("\n").match(/`{3,}/g) ?? []).map((ticks) => ticks.length));
  const ticks = "`".repeat(longest + 1);
  return `\n${ticks}diff\n${lines.join("\n")}\n${ticks}\n`;
}

function renderMarkdown(result: CheckResult): string {
  const { differences } = result;
  if (differences.length === 0) return "## What agents can reach\n\nNo change.\n";
  let text = `## What agents can reach\n\nChanges: ${counts(result)}.\n`;
  let left = differences.length;
  for (const { title, has } of groups) {
    const found = differences.filter(has);
    if (found.length > 0 && text.length < maxMarkdown) text += `\n### ${title}\n`;
    for (const each of found) {
      const part = `\n**${sentenceOf(each, quoteCode)}**\n${fence(linesOf(each))}`;
      if (text.length + part.length > maxMarkdown) continue;
      text += part;
      left -= 1;
    }
  }
  return left === 0 ? text : `${text}\n… and ${left} more changes. \`surface-mcp check\` prints all of them.\n`;
}

/** Escapes a text for a workflow command of GitHub. A property ends at a colon or comma. */
function escapeCommand(text: string, isProperty: boolean): string {
  const escaped = text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
  return isProperty ? escaped.replaceAll(":", "%3A").replaceAll(",", "%2C") : escaped;
}

function renderGithub({ base, differences }: CheckResult): string {
  const file = escapeCommand(base, true);
  return groups
    .flatMap(({ label, title, has }) =>
      differences.filter(has).map((each) => {
        const message = [sentenceOf(each, quoteText), ...linesOf(each)].join("\n");
        const level = label === "Other" ? "notice" : "warning";
        return `::${level} file=${file},title=${title}::${escapeCommand(message, false)}\n`;
      }),
    )
    .join("");
}

function renderJson({ differences }: CheckResult): string {
  // A member without a value is left out.
  const json: object = { same: differences.length === 0, differences };
  return `${toVisibleJson(json, 2)}\n`;
}

const renderers: Readonly<Record<CheckFormat, (result: CheckResult) => string>> = {
  ...{ text: renderText, markdown: renderMarkdown, json: renderJson, github: renderGithub },
};

/** Renders a result: widening differences first, then breaking ones, then all others. */
export function renderCheck(result: CheckResult, format: CheckFormat): string {
  return renderers[format](result);
}

/** Renders the number of entries of an exposure, for example `7 tools (3 may change something), 2 resources`. */
export function renderCounts(exposure: AppExposure): string {
  const { tools, mutating, resources, templates, prompts } = countRecords(exposure);
  return `${tools} tools (${mutating} may change something), ${resources} resources, ${templates} templates, ${prompts} prompts`;
}
