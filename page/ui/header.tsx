import type { JSX } from "preact";
import type { PageData } from "../data/page-data.ts";
import { listTabs, type PanelName, type Tab } from "../panels/panel-names.ts";
import { ifKnown, toCount } from "../text/format.ts";
import { toLabel } from "../text/visible.ts";
import { ConnectionLabel } from "./connection-state.tsx";
import { Short } from "./text.tsx";

interface TabsProps {
  readonly tabs: readonly Tab[];
  readonly selected: PanelName;
}

function select(name: PanelName): void {
  location.hash = name;
}

/** Moves along the tabs by arrow keys, and selects the tab that it reaches. */
function moveTabs(event: KeyboardEvent, tabs: readonly Tab[]): void {
  const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (step === undefined) return;
  const at = tabs.findIndex(({ name }) => document.activeElement?.id === `tab-${name}`);
  const name = tabs.at((at + step) % tabs.length)?.name;
  if (name === undefined) return;
  event.preventDefault();
  select(name);
  document.getElementById(`tab-${name}`)?.focus();
}

function Tabs(props: TabsProps): JSX.Element {
  return (
    <div class="tabs" role="tablist" aria-label="Panels" onKeyDown={(event) => moveTabs(event, props.tabs)}>
      {props.tabs.map(({ name, title, count, isUrgent }) => (
        <button
          key={name}

          role="tab"
          id={`tab-${name}`}
          aria-selected={name === props.selected}
          aria-controls="panel"
          tabIndex={name === props.selected ? 0 : -1}
          onClick={() => select(name)}
        >
          {title}
          <span class={isUrgent === true ? "count urgent" : "count"}>{ifKnown(count, toCount)}</span>
        </button>
      ))}
    </div>
  );
}

/** The version of an app whose author gave none. */
const noVersion = "0.0.0";

const nameOf = ({ app }: PageData): string => app?.title ?? app?.name ?? "surface-mcp";

/** Returns the title of the browser tab, with the number of approvals that wait. */
export function titleOf(data: PageData): string {
  const waiting = data.state?.approvals.length ?? 0;
  return `${waiting > 0 ? `(${waiting}) ` : ""}${toLabel(nameOf(data))}`;
}

/** Shows the app, the tabs and the state of the connection. */
export function Header({ data, selected }: { readonly data: PageData; readonly selected: PanelName }): JSX.Element {
  const { app } = data;
  return (
    <header class="masthead">
      <h1 class="line">
        <img class="mark" src="icon.svg" alt="" />
        <Short value={nameOf(data)} />
        <small class="line muted">
          <Short value={app === undefined || app.version === noVersion ? "" : app.version} />
        </small>
      </h1>
      <Tabs tabs={listTabs(data)} selected={selected} />
      <ConnectionLabel data={data} />
    </header>
  );
}
