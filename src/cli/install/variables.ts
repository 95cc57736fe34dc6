import { Refusal } from "../../errors.ts";
import { refused } from "../cli-errors.ts";
import type { ClientConfig } from "./clients.ts";
import type { ServerTarget } from "./server-target.ts";

/** A reference to a variable, as clients write it in their files. */
const reference = /\$\{[^}]*\}/g;

/** Returns the stand-in for a reference while the URL is parsed: a number for a port, a base URL at the beginning, or else a word. */
function toStandIn(word: string, text: string, [before, after]: readonly [before: string, after: string]): string {
  if (!/^(?:[/?#]|$)/.test(after)) return word;
  // With a path, to which parsing adds no slash.
  if (before === "") return `http://${word}/-`;
  if (!/^https?:\/\/[^/?#]*:$/.test(before)) return word;
  let port = 65_535;
  while (text.includes(String(port))) port -= 1;
  return String(port);
}

/** Calls `run`, and restores the references in the message of a refusal. */
function restoringFaults<TValue>(run: () => TValue, restore: (text: string) => string): TValue {
  try {
    return run();
  } catch (cause) {
    throw cause instanceof Refusal ? new Refusal(cause.code, restore(cause.message)) : cause;
  }
}

/**
 * Changes a URL with stand-ins for its variable references, and restores the references in the result or in the message of a refusal.
 * Without stand-ins, the URL might not parse, or its brackets would be escaped.
 */
export function aroundReferences(text: string, change: (text: string) => string): string {
  const places: (readonly [standIn: string, reference: string])[] = [];
  let plain = "";
  let end = 0;
  for (const { 0: one, index } of text.matchAll(reference)) {
    plain += text.slice(end, index);
    end = index + one.length;
    const word = `surface-mcp-variable-${index}-`;
    const standIn = toStandIn(word, text, [plain, text.slice(end)]);
    plain += standIn;
    places.push([standIn, one], [word, one]);
  }
  const restore = (changed: string): string =>
    places.reduce((before, [standIn, one]) => before.replace(standIn, () => one), changed);
  return restoringFaults(() => restore(change(plain + text.slice(end))), restore);
}

/** Returns the references in texts that a client does not replace, without duplicates. */
function unknownReferences({ expands }: ClientConfig, texts: readonly string[]): readonly string[] {
  const references = new Set(texts.flatMap((text) => text.match(reference) ?? []));
  return [...references].filter((one) => expands === undefined || !expands.pattern.test(one));
}

/**
 * Refuses references in a URL or a program that a client does not replace, since the server could not be reached.
 *
 * @throws Refusal `REFUSED`, naming the reference.
 */
export function assertExpands(client: ClientConfig, target: ServerTarget): void {
  const { name, expands } = client;
  const [unknown] = unknownReferences(client, [target.kind === "http" ? target.url : target.command]);
  if (unknown === undefined) return;
  const how =
    expands === undefined ? `${name} replaces no variables, so write the value` : `write it as ${expands.example}`;
  throw refused(`Cannot install into ${name}: it does not replace "${unknown}"; ${how}`);
}

/** Returns a warning about references in arguments that a client does not replace. A shell in the command may replace them. */
export function argumentWarning(client: ClientConfig, target: ServerTarget): string | undefined {
  const unknown = target.kind === "stdio" ? unknownReferences(client, target.args) : [];
  if (unknown.length === 0) return undefined;
  const { name, expands } = client;
  const how = expands === undefined ? "" : `; for a variable that ${name} replaces, write ${expands.example}`;
  return `the command receives ${unknown.map((one) => `"${one}"`).join(", ")} unchanged${how}`;
}
