import type { ComponentChildren, JSX } from "preact";
import { toCount } from "../text/format.ts";
import { Chip, Dot, Short } from "./text.tsx";

interface CardProps<TRow> {
  readonly title: string;
  readonly rows: readonly TRow[];
  readonly more?: number;
  readonly empty: string;
  readonly children: (row: TRow) => ComponentChildren;
}

/** A titled list, with the number of its rows. */
export function Card<TRow>({ title, rows, more = 0, empty, children }: CardProps<TRow>): JSX.Element {
  return (
    <section class="card" aria-label={title}>
      <header class="line">
        <h2>{title}</h2>
        <span class="count">{toCount(rows.length + more)}</span>
      </header>
      {rows.length === 0 ? <p class="muted">{empty}</p> : <ul>{rows.map(children)}</ul>}
      {more > 0 && <p class="muted">and {toCount(more)} more</p>}
    </section>
  );
}

/** Facts in a row that wraps. Those that do not hold are left out. */
export function Facts({ facts }: { readonly facts: readonly (string | false | undefined)[] }): JSX.Element {
  return (
    <div class="facts muted">
      {facts.map((fact) => (fact === false || fact === undefined ? null : <Short value={fact} />))}
    </div>
  );
}

interface ItemProps {
  readonly name: string;
  readonly tone?: string;
  readonly chip?: string | undefined;
  readonly end?: string | undefined;
  readonly facts: readonly (string | false | undefined)[];
}

/** A row of a card: a name in code, and facts below. */
export function Item({ name, tone, chip, end, facts }: ItemProps): JSX.Element {
  return (
    <li class="item">
      <div class="line">
        {tone !== undefined && <Dot tone={tone} />}
        <Short code value={name} />
        {chip !== undefined && <Chip text={chip} tone={tone ?? ""} />}
        <span class="end muted">{end}</span>
      </div>
      <Facts facts={facts} />
    </li>
  );
}
