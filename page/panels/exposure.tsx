import type { JSX } from "preact";
import type { PageExposure } from "../../src/inspector/messages.ts";
import {
  compareViews,
  differenceOf,
  isOfKind,
  matches,
  type MemberKind,
  type MemberRow,
  toMembers,
  toShownText,
} from "../data/exposure.ts";
import type { Page, PanelProps } from "../page.ts";
import { toCount } from "../text/format.ts";
import { toLabel } from "../text/visible.ts";
import { keep } from "../ui/kept-state.ts";
import { Search } from "../ui/search.tsx";
import { type Column, Table } from "../ui/table.tsx";
import { Chip, Notice, Short } from "../ui/text.tsx";
import { ExposureDetails } from "./exposure-details.tsx";

const kinds = [
  ["all", "All"],
  ["tool", "Tools"],
  ["resource", "Resources"],
  ["template", "Templates"],
  ["prompt", "Prompts"],
  ["page", "Pages"],
  ["skill", "Skills"],
  ["unexposed", "Not exposed"],
] as const satisfies readonly (readonly [MemberKind | "all", string])[];

type KindFilter = (typeof kinds)[number][0];

function toColumns({ views }: PageExposure, chosen: readonly number[]): Column<MemberRow>[] {
  return [
    ["kind muted", "As", ({ kind }) => <Short value={kind} />],
    ["name", "Member", ({ name }) => <Short code value={name} />],
    [
      "effects",
      "Effects, confirmation",
      ({ effects, confirm, why }) => (
        <>
          {effects?.map((effect) => (
            <Chip text={effect} tone={effect} />
          ))}
          {confirm !== undefined && <Chip text={confirm} />}
          {why !== undefined && <span class="why muted">not exposed: {why}</span>}
        </>
      ),
    ],
    ["scopes", "Scopes", ({ scopes }) => <Short value={scopes?.join(" ") ?? ""} />],
    ["right tokens", "Tokens", ({ tokens }) => tokens !== undefined && toCount(tokens)],
    ...chosen.map((index): Column<MemberRow> => [
      "view",
      <Short value={`View: ${views[index]?.name}`} />,
      ({ shown: { [index]: shown } = [] }) =>
        shown !== undefined && (
          <span class={"as" in shown ? "ok" : "muted"}>
            <Short value={toShownText(shown)} />
          </span>
        ),
    ]),
  ];
}

interface CompareProps {
  readonly exposure: PageExposure;
  /** Two positions in the list of views; -1 for none. */
  readonly picked: readonly number[];
  readonly pick: (picked: readonly number[]) => void;
}

function Compare({ exposure, picked, pick }: CompareProps): JSX.Element {
  return (
    <div class="line compare end">
      {["Compare view", "with view"].map((label, place) => (
        <label class="line">
          {label}
          <select
            value={picked[place]}
            onChange={(event) => pick(picked.with(place, Number(event.currentTarget.value)))}
          >
            <option value={-1}>–</option>
            {exposure.views.map(({ name }, position) => (
              <option value={position}>{toLabel(name)}</option>
            ))}
          </select>
        </label>
      ))}
      {!picked.includes(-1) && (
        <p class="number" role="status">
          {compareViews(exposure, picked)}
        </p>
      )}
    </div>
  );
}

function Views({ exposure: { views } }: { readonly exposure: PageExposure }): JSX.Element {
  return (
    <ul class="views" aria-label="Views">
      {views.map(({ name, face, tools, tokens }) => (
        <li class="line">
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
        <button aria-pressed={kind === id} onClick={() => set(id)}>
          {label}
          <span class="count">{toCount(rows.filter((row) => isOfKind(row, id)).length)}</span>
        </button>
      ))}
    </div>
  );
}

function Members({ page, exposure }: { readonly page: Page; readonly exposure: PageExposure }): JSX.Element {
  const [filter, setFilter] = keep("exposure.filter", "");
  const [kind, setKind] = keep<KindFilter>("exposure.kind", "all");
  const [picked, pick] = keep<readonly number[]>("exposure.views", [-1, -1]);
  const [opened, setOpened] = keep<string | undefined>("exposure.opened", undefined);
  const members = toMembers(exposure);
  const rows = members.filter((row) => matches(row, filter));
  const isComparing = !picked.includes(-1);
  const shown = rows.filter((row) => isOfKind(row, kind) && !(isComparing && differenceOf(row, picked) === "same"));
  const chosen = isComparing ? picked : exposure.views.map((_, index) => index);
  const open = members.find(({ key }) => key === opened);
  return (
    <>
      <Views exposure={exposure} />
      <div class="line tools">
        <Search label="Filter members" value={filter} set={setFilter} />
        <Kinds rows={rows} kind={kind} set={setKind} />
        {exposure.views.length > 1 && <Compare exposure={exposure} picked={picked} pick={pick} />}
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
