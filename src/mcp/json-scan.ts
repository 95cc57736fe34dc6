import { levelsOf, markAt, QUOTE, skipString, SPACE } from "../json-rpc/scan.ts";
import { isRequestId, type RequestId } from "./protocol.ts";

interface EnvelopeScan {
  /** The last id at the top level; `null` if none can be echoed. */
  readonly id: RequestId | null;
  readonly isResponse: boolean;
}

/** No key that is looked for is longer with every letter written as an escape of six characters, and its quotes. */
const MAX_KEY = 6 * "method".length + 2;
/** Nor is an id of 1 KiB with every byte written so. */
const MAX_ID = 6 * 1024 + 2;

/** Finds the id of a message that is too large to parse, in one pass: clients write the id first or last. */
export function scanEnvelope(text: string): EnvelopeScan {
  let id: RequestId | null = null;
  const seen = new Set<unknown>();
  for (const [key, valueAt] of topLevelKeys(text)) {
    if (key === "id") id = readId(text, valueAt);
    seen.add(key);
  }
  return { id, isResponse: !seen.has("method") && (seen.has("result") || seen.has("error")) };
}

/** Each short enough key of the outermost object, decoded, with the index at which its value starts. */
function* topLevelKeys(text: string): Generator<readonly [key: unknown, valueAt: number]> {
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const mark = markAt(text, at);
    depth += levelsOf(mark);
    if (mark !== QUOTE) continue;
    const end = skipString(text, at);
    const valueAt = depth === 1 ? findValue(text, end + 1) : undefined;
    if (valueAt !== undefined && end - at < MAX_KEY) yield [decode(text.slice(at, end + 1)), valueAt];
    at = end;
  }
}

/** Where the value starts when the string that ended before `from` is a key, so when a colon follows it. */
function findValue(text: string, from: number): number | undefined {
  const colon = skipSpace(text, from);
  return text[colon] === ":" ? skipSpace(text, colon + 1) : undefined;
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && markAt(text, at) === SPACE) at += 1;
  return at;
}

function readId(text: string, at: number): RequestId | null {
  const head = text.slice(at, at + MAX_ID);
  const token = head.startsWith('"') ? head.slice(0, skipString(head, 0) + 1) : (/^[^\s,}]*/.exec(head)?.[0] ?? "");
  const id = decode(token);
  // A number too small for a double reads as 0, and could not be echoed.
  const isUnderflow = id === 0 && !/^-?0*\.?0*(?:e|$)/i.test(token);
  return isRequestId(id) && !isUnderflow ? id : null;
}

function decode(token: string): unknown {
  try {
    return JSON.parse(token);
  } catch {
    return undefined;
  }
}
