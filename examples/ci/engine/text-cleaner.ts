import { StringDecoder } from "node:string_decoder";
import { stripVTControlCharacters } from "node:util";

const ESCAPE = "\u001b";
/** What ends a link or a title sequence: BEL or ESC backslash. */
const TERMINATORS = ["\u0007", `${ESCAPE}\\`];
/** Longer than any colour or cursor sequence; what is longer is text that only begins like one. */
const MAX_HELD = 256;

/** Turns the bytes of a program's output into plain text. */
export interface TextCleaner {
  /** The text that these bytes complete; what they leave unfinished is held until the next call. */
  push(bytes: Buffer): string;
  /** What was held. The cleaner is as new afterwards. */
  end(): string;
}

/**
 * Makes a cleaner: decodes UTF-8 (invalid bytes become U+FFFD), removes ANSI sequences, and writes every line end,
 * also the lone carriage return of a progress line, as `\n`. Characters, sequences and line ends that are cut in two
 * by a chunk border come out whole.
 */
export function createTextCleaner(): TextCleaner {
  const decoder = new StringDecoder("utf8");
  let held = "";
  return {
    push(bytes) {
      const text = held + decoder.write(bytes);
      const border = unfinishedFrom(text);
      held = text.slice(border);
      return clean(text.slice(0, border));
    },
    end() {
      const text = clean(held + decoder.end());
      held = "";
      return text;
    },
  };
}

function clean(text: string): string {
  return stripVTControlCharacters(text).replace(/\r\n?/g, "\n");
}

/** The index from which `text` may be the beginning of something; its length when there is no such thing. */
function unfinishedFrom(text: string): number {
  const link = text.lastIndexOf(`${ESCAPE}]`);
  if (link >= 0 && text.length - link <= MAX_HELD && !TERMINATORS.some((end) => text.includes(end, link))) return link;
  const escape = text.lastIndexOf(ESCAPE);
  if (escape >= 0 && text.length - escape <= MAX_HELD && /^(\[[0-?]*[ -/]*)?$/.test(text.slice(escape + 1)))
    return escape;
  return text.endsWith("\r") ? text.length - 1 : text.length;
}
