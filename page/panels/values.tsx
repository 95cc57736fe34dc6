import type { JSX } from "preact";
import type { ValueRow } from "../../src/inspector/messages.ts";
import type { PanelProps } from "../page.ts";
import { ifKnown, toBytes, toCount, toMoment, toSpan } from "../text/format.ts";
import { Drawer, Fields } from "../ui/drawer.tsx";
import { Json } from "../ui/json.tsx";
import { keep } from "../ui/kept-state.ts";
import { Search } from "../ui/search.tsx";
import { type Column, Table } from "../ui/table.tsx";
import { Chip, Short } from "../ui/text.tsx";

function toColumns(now: number): Column<ValueRow>[] {
  return [
    ["uri", "Resource", ({ uri }) => <Short code value={uri} />],
    ["state", "State", ({ isStale }) => <Chip tone={isStale ? "warn" : "ok"} text={isStale ? "stale" : "fresh"} />],
    ["right age", "Changed", ({ changedAt }) => ifKnown(changedAt, (at) => `${toSpan(now - at)} ago`)],
    ["right changes", "Changes", ({ changes }) => toCount(changes)],
    ["right watchers", "Watchers", ({ watchers }) => toCount(watchers)],
    ["right bytes", "Size", ({ bytes }) => ifKnown(bytes, toBytes)],
    ["value muted", "Value", ({ value }) => value !== undefined && <Short code value={JSON.stringify(value)} />],
  ];
}

function Details({ row, close }: { readonly row: ValueRow; readonly close: () => void }): JSX.Element {
  return (
    <Drawer title={row.uri} close={close}>
      <Fields
        fields={[
          ["URI", row.uri],
          ["State", row.isStale ? "stale: its source is away" : "fresh"],
          ["Changes", toCount(row.changes)],
          ["Last change", ifKnown(row.changedAt, toMoment)],
          ["Watchers", toCount(row.watchers)],
          ["Size as JSON", ifKnown(row.bytes, toBytes)],
        ]}
      />
      {row.value === undefined ? (
        <p class="muted">The server sends values only with the option "values" of the inspector.</p>
      ) : (
        <Json label="Value" value={row.value} />
      )}
    </Drawer>
  );
}

/** Shows the watched resources as they change. */
export function ValuesPanel({ page: { data }, state }: PanelProps): JSX.Element {
  const [filter, setFilter] = keep("values.filter", "");
  const [opened, setOpened] = keep<string | undefined>("values.opened", undefined);
  const { rows, more } = state.values;
  const shown = rows.filter(({ uri }) => uri.toLowerCase().includes(filter.toLowerCase()));
  const open = shown.find(({ uri }) => uri === opened);
  return (
    <>
      <div class="line tools">
        <Search label="Filter resources" value={filter} set={setFilter} />
        <span class="muted end">
          {toCount(shown.length)} of {toCount(rows.length + more)}
        </span>
      </div>
      <Table
        label="Watched resources"
        kind="values"
        main="uri"
        columns={toColumns(data.now)}
        rows={shown}
        keyOf={({ uri }) => uri}
        opened={opened}
        open={({ uri }) => setOpened(uri)}
        empty={rows.length === 0 ? "No resource is watched." : "No resource matches."}
      />
      {open !== undefined && <Details row={open} close={() => setOpened(undefined)} />}
    </>
  );
}
