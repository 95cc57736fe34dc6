import type { JSX } from "preact";
import type { HistoryRow } from "../../src/inspector/messages.ts";
import { Charts } from "../charts/charts.tsx";
import { type Gap, type HistoryItem, type HistoryFilters, isFiltered, isGap, listItems } from "../data/history-rows.ts";
import type { ServerFilters } from "../data/older-rows.ts";
import type { PageData } from "../data/page-data.ts";
import type { Page, PanelProps } from "../page.ts";
import { ifKnown, toBytes, toClock, toCount, toDuration } from "../text/format.ts";
import { keep } from "../ui/kept-state.ts";
import { Search } from "../ui/search.tsx";
import { type Column, Table } from "../ui/table.tsx";
import { Problem, Short } from "../ui/text.tsx";
import { HistoryDetails, OutcomeMark } from "./history-details.tsx";

const outcomes = [
  "ok",
  "failed",
  "refused",
  "asked",
  "cancelled",
  "closed",
] as const satisfies readonly HistoryRow["outcome"][];
const noFilters: HistoryFilters = { tool: "", caller: "", outcome: "" };
/** The names that the filters offer, at most. */
const offeredNames = 200;

function ofRow<T>(read: (row: HistoryRow) => T): (item: HistoryItem) => T | null {
  return (item) => (isGap(item) ? null : read(item));
}

function toColumns({ oldest }: PageData): Column<HistoryItem>[] {
  const textOf = ({ from, to }: Gap): string =>
    `${toCount(to - from + 1)} rows not loaded. ${to < oldest ? "The server keeps them no longer." : "Open to load."}`;
  return [
    ["time", "Time", ofRow(({ at }) => toClock(at))],
    ["outcome", "Outcome", ofRow((row) => <OutcomeMark row={row} />)],
    [
      "name",
      "Tool or method",
      (item) =>
        isGap(item) ? (
          <span class="muted">{textOf(item)}</span>
        ) : (
          <Short code value={`${item.parent === undefined ? "" : "↳ "}${item.name ?? item.method}`} />
        ),
    ],
    ["caller", "Caller", ofRow(({ caller = "–" }) => <Short value={caller} />)],
    ["client", "Client", ofRow(({ client = "–" }) => <Short value={client} />)],
    ["view", "View", ofRow(({ view = "–" }) => <Short value={view} />)],
    ["error", "Code", ofRow(({ code, rpcCode }) => <Short value={code ?? `${rpcCode ?? ""}`} />)],
    ["right ms", "Latency", ofRow(({ ms }) => ifKnown(ms, toDuration))],
    ["right in", "In", ofRow(({ bytesIn }) => ifKnown(bytesIn, toBytes))],
    ["right out", "Out", ofRow(({ bytesOut }) => ifKnown(bytesOut, toBytes))],
  ];
}

interface Names {
  readonly tools: readonly string[];
  readonly callers: readonly string[];
}

/** Returns the names that the filters offer: of the totals, and of the newest rows. */
function namesOf({ state, history }: PageData): Names {
  const recent = history.slice(-1000);
  const tools = new Set([
    ...(state?.tools.rows.map((one) => one.tool) ?? []),
    ...recent.map(({ name, method }) => name ?? method),
  ]);
  const callers = new Set(recent.flatMap(({ caller }) => (caller === undefined ? [] : [caller])));
  return { tools: [...tools].slice(0, offeredNames), callers: [...callers].slice(0, offeredNames) };
}

/** Returns the filters that the server can apply: it compares whole names. */
function toServerFilters({ tool, caller, outcome }: HistoryFilters, names: Names): ServerFilters {
  return {
    ...(names.tools.includes(tool) && { tool }),
    ...(names.callers.includes(caller) && { caller }),
    ...(outcome !== "" && { outcome }),
  };
}

interface FiltersProps {
  readonly filters: HistoryFilters;
  readonly names: Names;
  readonly set: (filters: HistoryFilters) => void;
}

function Filters({ filters, names, set }: FiltersProps): JSX.Element {
  return (
    <>
      <Search label="Tool" value={filters.tool} set={(tool) => set({ ...filters, tool })} offered={names.tools} />
      <Search
        label="Caller"
        value={filters.caller}
        set={(caller) => set({ ...filters, caller })}
        offered={names.callers}
      />
      <select
        aria-label="Outcome"
        value={filters.outcome}
        onChange={(event) => set({ ...filters, outcome: event.currentTarget.value })}
      >
        <option value="">All outcomes</option>
        {outcomes.map((outcome) => (
          <option>{outcome}</option>
        ))}
      </select>
    </>
  );
}

interface FooterProps {
  readonly page: Page;
  readonly filters: ServerFilters;
}

function Footer({ page: { older, data }, filters }: FooterProps): JSX.Element | null {
  if (data.history.length === 0) return null;
  return (
    <div class="line muted footer">
      <Problem text={older.error} />
      {older.hasMore(filters) ? (
        <button disabled={older.isLoading} onClick={() => void older.loadMore(filters)}>
          {older.isLoading ? "Loading" : "Load older rows"}
        </button>
      ) : (
        <span>No older rows.</span>
      )}
    </div>
  );
}

/** Shows ended calls and refusals, newest first, with charts. */
export function HistoryPanel({ page, state }: PanelProps): JSX.Element {
  const { data, older } = page;
  const [filters, setFilters] = keep("history.filters", noFilters);
  const [pausedAt, setPausedAt] = keep<number | undefined>("history.pausedAt", undefined);
  const [opened, setOpened] = keep<HistoryRow | undefined>("history.opened", undefined);
  const newest = data.history.at(-1)?.seq ?? 0;
  const names = namesOf(data);
  const serverFilters = toServerFilters(filters, names);
  const items = listItems(data.history, filters, pausedAt);
  return (
    <>
      <Charts state={state} now={data.now} />
      <div class="line tools">
        <Filters filters={filters} names={names} set={setFilters} />
        <span class="muted end">
          {toCount(items.length)} {isFiltered(filters) ? "match" : "rows"}
        </span>
        <button
          class={pausedAt === undefined ? "pause" : "pause primary"}
          onClick={() => setPausedAt(pausedAt === undefined ? newest : undefined)}
        >
          {pausedAt === undefined ? "Pause" : `Go on, ${toCount(newest - pausedAt)} new`}
        </button>
      </div>
      <Table
        label="History, newest first"
        kind="history"
        main="name"
        columns={toColumns(data)}
        rows={items}
        keyOf={(item) => (isGap(item) ? `gap ${item.from}` : String(item.seq))}
        opened={opened === undefined ? undefined : String(opened.seq)}
        open={(item) => (isGap(item) ? void older.fill(item) : setOpened(item))}
        empty={isFiltered(filters) ? "No row that is loaded matches." : "No request has ended yet."}
        footer={<Footer page={page} filters={serverFilters} />}
        onLeaveTop={() => pausedAt === undefined && setPausedAt(newest)}
        onEnd={() =>
          !older.isLoading &&
          older.error === undefined &&
          older.hasMore(serverFilters) &&
          void older.loadMore(serverFilters)
        }
      />
      {opened !== undefined && (
        <HistoryDetails row={opened} rows={data.history} open={setOpened} close={() => setOpened(undefined)} />
      )}
    </>
  );
}
