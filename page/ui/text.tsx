import type { ComponentChildren, JSX } from "preact";
import { clip, toLabel, toPieces } from "../text/visible.ts";

interface TextProps {
  readonly value: string;
  /** Keeps line ends and tabs. */
  readonly lines?: boolean;
}

/** Shows a text of an application: isolated in its direction, with escapes for invisible characters, as text nodes only. */
export function Text({ value, lines = false }: TextProps): JSX.Element {
  const pieces = toPieces(value, lines);
  return (
    <bdi class={lines ? "lines" : undefined}>
      {pieces.map((piece, place) =>
        place % 2 === 1 && piece.length > 1 ? <span class="escape">{piece}</span> : piece,
      )}
    </bdi>
  );
}

/** Shows the start of a text, in one line, and more of it in a tooltip. With `code` the text names something in code. */
export function Short({ value, code = false }: { readonly value: string; readonly code?: boolean }): JSX.Element {
  return (
    <span class={code ? "clip code" : "clip"} title={toLabel(value)}>
      <Text value={clip(value)} />
    </span>
  );
}

/** Shows a round mark in the tone of its class. */
export function Dot({ tone = "" }: { readonly tone?: string }): JSX.Element {
  return <i class={`dot ${tone}`} aria-hidden="true" />;
}

/** Shows a short word of the page in a tone. */
export function Chip({ text, tone = "" }: { readonly text: string; readonly tone?: string }): JSX.Element {
  return <span class={`chip ${tone}`}>{text}</span>;
}

/** Shows why an action failed, if it did. */
export function Problem({ text }: { readonly text: string | undefined }): JSX.Element | null {
  if (text === undefined) return null;
  return (
    <span class="bad clip" role="alert">
      {text}
    </span>
  );
}

/** Shows a horizontal bar whose length is a part of the whole. */
export function Bar({ part, tone }: { readonly part: number; readonly tone: string }): JSX.Element {
  return <progress class={`bar ${tone}`} value={part} aria-hidden="true" />;
}

/** Stands in place of rows while there are none. */
export function Notice({
  title,
  children,
}: {
  readonly title: string;
  readonly children: ComponentChildren;
}): JSX.Element {
  return (
    <section class="notice muted">
      <h2>{title}</h2>
      <p>{children}</p>
    </section>
  );
}
