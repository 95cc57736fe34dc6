import type { ViewReplay } from "../views/replay-view.ts";
import { columns } from "./columns.ts";
import { visibleText } from "../schema/visible-text.ts";

/** How a heading looks: on a terminal it is bold. */
type Emphasise = (text: string) => string;

/** A heading, and rows below it. */
interface Section {
  readonly title: string;
  readonly rows: readonly (readonly string[])[];
}

function headOf({ entity, verdict }: ViewReplay): readonly (readonly string[])[] {
  const said = verdict.kind === "deny" ? `denied: ${verdict.reason}` : `${verdict.face ?? "direct"} face`;
  const { client, principal = "the local user, as over stdio", ...plain } = entity;
  const shown = client === undefined ? {} : { client: `${client.name} ${client.version}` };
  return [...Object.entries({ ...plain, ...shown, caller: principal }), ["verdict", said]];
}

const namesOf = (names: readonly string[]): readonly (readonly string[])[] => names.map((name) => ["", name]);

function sectionsOf(replay: ViewReplay): readonly Section[] {
  const { visible_tools, visible_tool_count, visible_resources, operations, hidden } = replay;
  return [
    { title: `tools (${visible_tool_count})`, rows: namesOf(visible_tools) },
    ...(operations === undefined
      ? []
      : [{ title: `operations behind them (${operations.length})`, rows: namesOf(operations) }]),
    { title: `resources (${visible_resources.length})`, rows: namesOf(visible_resources) },
    { title: `hidden (${hidden.length})`, rows: hidden.map(({ name, by }) => ["", name, by]) },
  ];
}

/** A replay as people read it: who asks, what was decided, what is visible, and what hides the rest. */
export function renderReplay(replay: ViewReplay, isTerminal: boolean): string {
  const emphasise: Emphasise = (text) => (isTerminal ? `\u001B[1m${text}\u001B[22m` : text);
  const sections = sectionsOf(replay).map(({ title, rows }) => `\n${emphasise(visibleText(title))}\n${columns(rows)}`);
  return columns(headOf(replay)) + sections.join("");
}
