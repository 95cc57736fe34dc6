import type { JSX } from "preact";
import type { ConnectionState, PageData } from "../data/page-data.ts";
import { Dot, Notice } from "./text.tsx";

const texts: Readonly<Record<ConnectionState, readonly [label: string, tone: string, text: string]>> = {
  connecting: ["Connecting", "warn", "The page waits for the server."],
  live: ["Live", "ok", ""],
  reconnecting: ["Reconnecting", "warn", "The page waits for the server."],
  ended: ["Ended", "bad", "The server has restarted; open the link it printed."],
  refused: ["No access", "bad", "Open the link that the server printed. A link works once."],
};

/** Shows the state of the connection, in a place of one width. */
export function ConnectionLabel({ state }: { readonly state: ConnectionState }): JSX.Element {
  const [label, tone] = texts[state];
  return (
    <span class="line connection">
      <Dot tone={tone} />
      {label}
    </span>
  );
}

/** Tells that the shown state is old for good. */
export function ConnectionBanner({ state }: { readonly state: ConnectionState }): JSX.Element | null {
  if (state !== "ended") return null;
  return (
    <p class="banner bad" role="alert">
      {texts.ended[2]} This page shows the last state.
    </p>
  );
}

/** Stands in place of the panel before the first state. */
export function ConnectionNotice({ state }: { readonly state: ConnectionState }): JSX.Element {
  const [label, , text] = texts[state];
  return <Notice title={label}>{text}</Notice>;
}

/** Tells screen readers the connection and the number of approvals that wait, when they change. Nothing else. */
export function Announcer({ data: { connection, state } }: { readonly data: PageData }): JSX.Element {
  return (
    <p class="unseen" role="status">
      {texts[connection][0]}. Approvals that wait: {state?.approvals.length ?? 0}.
    </p>
  );
}
