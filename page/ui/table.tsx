import type { ComponentChildren, JSX } from "preact";
import { drawKept } from "./kept-state.ts";
import { TableView } from "./table-view.ts";

/** A column of a table. Its `id` is the class of its cells too. */
export type Column<TRow> = readonly [id: string, label: ComponentChildren, cell: (row: TRow) => ComponentChildren];

export interface TableProps<TRow> {
  readonly label: string;
  /** The class that sets the widths of the columns. */
  readonly kind: string;
  readonly columns: readonly Column<TRow>[];
  /** The column whose cells are buttons that open the row. */
  readonly main: string;
  readonly rows: readonly TRow[];
  readonly keyOf: (row: TRow) => string;
  readonly opened?: string | undefined;
  readonly open: (row: TRow) => void;
  /** Columns beyond those of the class, for its width. */
  readonly extraColumns?: number;
  readonly empty: ComponentChildren;
  readonly footer?: ComponentChildren;
  /** Called when the reader scrolls away from the top, or moves in the rows. */
  readonly onLeaveTop?: () => void;
  /** Called when the last rows are near. */
  readonly onEnd?: () => void;
}

const views = new Map<string, TableView>();

/** Returns the view of a table. It outlives the table, which has another element each time. */
function viewOf(kind: string): TableView {
  const view = views.get(kind) ?? new TableView(drawKept);
  views.set(kind, view);
  return view;
}

interface RowProps<TRow> {
  readonly table: TableProps<TRow>;
  readonly view: TableView;
  readonly row: TRow;
  readonly index: number;
  readonly isActive: boolean;
}

function Row<TRow>({ table, view, row, index, isActive }: RowProps<TRow>): JSX.Element {
  const { columns, main, open, keyOf, opened } = table;
  return (
    <div
      class={opened === keyOf(row) ? "row opened" : "row"}
      role="row"
      aria-rowindex={index + 2}
      style={{ transform: `translateY(${index * view.rowHeight}px)` }}
      onClick={() => open(row)}
    >
      {columns.map(([id, , cell]) => (
        <div class={`cell ${id}`} role="cell">
          {id === main ? (
            <button class="open-row" ref={isActive ? view.focus : null} tabIndex={isActive ? 0 : -1} data-index={index}>
              {cell(row)}
            </button>
          ) : (
            cell(row)
          )}
        </div>
      ))}
    </div>
  );
}

function Head<TRow>({ columns }: Pick<TableProps<TRow>, "columns">): JSX.Element {
  return (
    <div class="head row" role="row" aria-rowindex={1}>
      {columns.map(([id, title]) => (
        <div class={`cell ${id}`} role="columnheader">
          {title}
        </div>
      ))}
    </div>
  );
}

/** Shows rows of one height, and draws only those that are seen. Arrow keys move, Enter opens. */
export function Table<TRow>(props: TableProps<TRow>): JSX.Element {
  const { label, kind, columns, rows, keyOf, empty, footer, onLeaveTop, onEnd, extraColumns = 0 } = props;
  const view = viewOf(kind);
  const { first, active } = view;
  const drawn = rows.slice(first, view.end);
  const known = drawn.findIndex((row) => keyOf(row) === active);
  const reached = known < 0 ? Math.max(0, drawn.length >> 1) * Math.sign(first) : known;
  if (view.end >= rows.length) onEnd?.();
  return (
    <div class={`table ${kind}`} style={{ "--extra": extraColumns }}>
      <div
        class="scroller"
        ref={view.follow}
        onKeyDown={(event) =>
          view.move(event, rows.length, (at) => rows.slice(at, at + 1).map(keyOf)[0]) && onLeaveTop?.()
        }
        onScroll={(event) => {
          view.measure();
          if (event.currentTarget.scrollTop > 0) onLeaveTop?.();
        }}
      >
        <div role="table" aria-label={label} aria-rowcount={rows.length + 1}>
          <Head columns={columns} />
          <div class="space" role="rowgroup" style={{ height: `${rows.length * view.rowHeight}px` }}>
            {drawn.map((row, place) => (
              <Row
                key={keyOf(row)}
                table={props}
                view={view}
                row={row}
                index={first + place}
                isActive={place === reached}
              />
            ))}
          </div>
        </div>
        {rows.length === 0 && <p class="muted empty">{empty}</p>}
        {footer}
      </div>
    </div>
  );
}
