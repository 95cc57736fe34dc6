import { refused } from "./cli-errors.ts";
import type { ClientConfig } from "./clients.ts";
import type { ServerTarget } from "./server-target.ts";

/** A reference to a variable, as clients write it in their files. */
const reference = /\$\{[^}]*\}/g;

/** The references of a text, each once. */
function referencesOf(text: string): readonly string[] {
  return [...new Set(text.match(reference))];
}

/**
 * Does something to a text whose references have words in their place, and puts them back into the result: a URL would be
 * written with their brackets escaped.
 */
export function aroundReferences(text: string, change: (text: string) => string): string {
  const references = referencesOf(text);
  const wordOf = (index: number): string => `surface-mcp-variable-${index}-`;
  const plain = references.reduce((before, one, index) => before.replaceAll(one, wordOf(index)), text);
  return references.reduce((after, one, index) => after.replaceAll(wordOf(index), () => one), change(plain));
}

/**
 * Refuses references to variables that a client does not replace: the server would be started with, or asked for, the text itself.
 *
 * @throws Refusal `REFUSED`, naming the reference.
 */
export function assertExpands({ name, expands }: ClientConfig, target: ServerTarget): void {
  const texts = target.kind === "http" ? [target.url] : [target.command, ...target.args];
  const unknown = texts.flatMap(referencesOf).find((one) => expands === undefined || !expands.pattern.test(one));
  if (unknown === undefined) return;
  const how =
    expands === undefined ? `${name} replaces no variables: write the value` : `write it as ${expands.example}`;
  throw refused(`Cannot install into ${name}: it does not replace "${unknown}"; ${how}`);
}
