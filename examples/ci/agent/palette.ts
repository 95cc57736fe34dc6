import { styleText } from "node:util";

/** What a piece of text means; how that looks is the palette's business. */
export type Tone = "strong" | "dim" | "good" | "bad" | "warn" | "busy" | "name";

/** Dresses a piece of text, or leaves it as it is. */
export type Palette = (tone: Tone, text: string) => string;

const FORMATS = {
  strong: "bold",
  dim: "dim",
  good: "green",
  bad: "red",
  warn: "yellow",
  busy: "cyan",
  name: "magenta",
} as const satisfies Record<Tone, Parameters<typeof styleText>[0]>;

/** Makes a palette with colours, or one without. */
export function createPalette(colours: boolean): Palette {
  return colours ? (tone, text) => styleText(FORMATS[tone], text) : (_tone, text) => text;
}
