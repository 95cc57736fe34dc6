import type { JSX } from "preact";
import type { ExposureRow, PageExposure, ShownAs } from "../../src/inspector/messages.ts";
import {
  compareViews,
  differenceOf,
  kindOf,
  matches,
  type MemberKind,
  type MemberRow,
  toMembers,
} from "../data/exposure.ts";
import type { Page, PanelProps } from "../page.ts";
import { toCount } from "../text/format.ts";
import { toLabel } from "../text/visible.ts";
import { keep } from "../ui/kept-state.ts";
import { Search } from "../ui/search.tsx";
import { type Column, Table } from "../ui/table.tsx";
import { Chip, Notice, Short, Text } from "../ui/text.tsx";
import { ExposureDetails } from "./exposure-details.tsx";

const kinds = [
  ["all", "All"],
  ["tool", "Tools"],
  ["resource", "Resources"],
  ["template", "Templates"],
  ["prompt", "Prompts"],
  ["unexposed", "Not exposed"],
] as const satisfies readonly (readonly [MemberKind | "all", string])[];

type KindFilter = (typeof kinds)[number][0];

function Shown({ shown }: { readonly shown: ShownAs | undefined }): JSX.Element | null {
  if (shown === undefined) return null;
  if ("as" in shown) return <span class="ok">{shown.as === "listed" ? "listed" : "by call"}</span>;
  return (
    <span class="muted" title={toLabel(shown.hiddenBy)}>
      hidden
    </span>
  );
}

function ofEntry<T>(read: (entry: ExposureRow) => T): (row: MemberRow) => T | null {
  return (row) => ("entry" in row ? read(row.entry) : null);
}

function toColumns({ views }: PageExposure, chosen: readonly number[]): Column<MemberRow>[] {
  return [
    ["kind muted", "As", (row) => <Short value={"entry" in row ? row.entry.kind : row.unexposed.kind} />],
    ["name", "Member", (row) => <Short code value={"entry" in row ? row.entry.name : row.unexposed.name} />],
    [
      "effects",
      "Effects",
      (row) =>
        "entry" in row ? (
          row.entry.effects.map((effect) => <Chip key={effect} text={effect} tone={effect} />)
        ) : (
          <span class="why muted">
            <Text value={`not exposed: ${row.unexposed.why}`} />
          </span>
        ),
    ],
    ["scopes", "Scopes", ofEntry(({ scopes }) => <Short value={scopes.join(" ")} />)],
    ["asks", "Confirm", ofEntry(({ confirm = "" }) => <Short value={confirm} />)],
    ["right tokens", "Tokens", ofEntry(({ tokens }) => toCount(tokens))],
    ...chosen.map((index): Column<MemberRow> => [
      `view view-${index}`,
      <Short value={`View: ${views[index]?.name}`} />,
      ofEntry(({ shown }) => <Shown shown={shown[index]} />),
    ]),
  ];
}

interface ViewsProps {
  readonly exposure: PageExposure;
  readonly first: number;
  readonly second: number;
  readonly choose: (first: number, second: number) => void;
}

function Compare({ exposure, first, second, choose }: ViewsProps): JSX.Element {
  const isComparing = first >= 0 && second >= 0;
  const found = isComparing ? compareViews(exposure, first, second) : undefined;
  const picks = [
    ["Compare view", first, (index: number) => choose(index, second)],
    ["with view", second, (index: number) => choose(first, index)],
  ] as const;
  return (
    <div class="line compare end">
      {picks.map(([label, index, set]) => (
        <label key={label} class="line">
          {label}
          <select value={index} onChange={(event) => set(Number(event.currentTarget.value))}>
            <option value={-1}>–</option>
            {exposure.views.map((view, position) => (
              <option key={view.name} value={position}>
                {toLabel(view.name)}
              </option>
            ))}
          </select>
        </label>
      ))}
      {found !== undefined && (
        <p class="number" role="status">
          {toCount(found.onlyFirst)} only in the first, {toCount(found.onlySecond)} only in the second,{" "}
          {toCount(found.differently)} shown differently; {found.tokens > 0 ? "+" : ""}
          {toCount(found.tokens)} tokens
        </p>
      )}
    </div>
  );
}

function Views({ exposure: { views } }: { readonly exposure: PageExposure }): JSX.Element {
  return (
    <ul class="views" aria-label="Views">
      {views.map(({ name, face, tools, tokens }) => (
        <li key={name} class="line">
          <Short value={name} />
          <Chip text={face} tone={face === "denied" ? "bad" : ""} />
          <span class="number muted">
            {toCount(tools)} tools, {toCount(tokens)} tokens
          </span>
        </li>
      ))}
    </ul>
  );
}

interface KindsProps {
  readonly rows: readonly MemberRow[];
  readonly kind: KindFilter;
  readonly set: (kind: KindFilter) => void;
}

function Kinds({ rows, kind, set }: KindsProps): JSX.Element {
  return (
    <div class="line kinds" role="group" aria-label="Kinds">
      {kinds.map(([id, label]) => (
        <button key={id} aria-pressed={kind === id} onClick={() => set(id)}>
          {label}
          <span class="count">
            {toCount(id === "all" ? rows.length : rows.filter((row) => kindOf(row) === id).length)}
          </span>
        </button>
      ))}
    </div>
  );
}

function Members({ page, exposure }: { readonly page: Page; readonly exposure: PageExposure }): JSX.Element {
  const [filter, setFilter] = keep("exposure.filter", "");
  const [kind, setKind] = keep<KindFilter>("exposure.kind", "all");
  const [[first, second], choose] = keep<readonly [number, number]>("exposure.views", [-1, -1]);
  const [opened, setOpened] = keep<string | undefined>("exposure.opened", undefined);
  const rows = toMembers(exposure).filter((row) => matches(row, filter));
  const isComparing = first >= 0 && second >= 0;
  const differs = (row: MemberRow): boolean =>
    !isComparing || ("entry" in row && differenceOf(row.entry, first, second) !== "same");
  const shown = rows.filter((row) => (kind === "all" || kindOf(row) === kind) && differs(row));
  const chosen = isComparing ? [first, second] : exposure.views.map((_, index) => index);
  const open = opened === undefined ? undefined : toMembers(exposure).find(({ key }) => key === opened);
  return (
    <>
      <Views exposure={exposure} />
      <div class="line tools">
        <Search label="Filter members" value={filter} set={setFilter} />
        <Kinds rows={rows} kind={kind} set={setKind} />
        {exposure.views.length > 1 && (
          <Compare exposure={exposure} first={first} second={second} choose={(a, b) => choose([a, b])} />
        )}
      </div>
      <Table
        label="Members"
        kind="exposure"
        main="name"
        columns={toColumns(exposure, chosen)}
        extraColumns={chosen.length}
        rows={shown}
        keyOf={({ key }) => key}
        opened={opened}
        open={({ key }) => setOpened(key)}
        empty={isComparing ? "No difference." : "No match."}
      />
      {open !== undefined && (
        <ExposureDetails row={open} page={page} exposure={exposure} close={() => setOpened(undefined)} />
      )}
    </>
  );
}

/** Shows all members: exposed or not, as what, and in which views. */
export function ExposurePanel({ page }: PanelProps): JSX.Element {
  const { exposure, data } = page;
  exposure.ensure();
  if (data.exposure !== undefined) return <Members page={page} exposure={data.exposure} />;
  return <Notice title="Exposure">{exposure.error ?? "Loading"}</Notice>;
}
