import type { JSX } from "preact";
import type { ConnectionState, PageData } from "../data/page-data.ts";
import { Dot, Notice } from "./text.tsx";

const texts: Readonly<Record<ConnectionState, readonly [label: string, tone: string, text: string]>> = {
  connecting: ["Connecting", "warn", "The page waits for the server."],
  live: ["Live", "ok", ""],
  reconnecting: ["Reconnecting", "warn", "The server does not answer; what you see may be old."],
  ended: ["Ended", "bad", "The server has restarted; open the link it printed."],
  refused: ["No access", "bad", "A link works once: restart the server, or call link() for another one."],
};

/** Shows the state of the connection, in a place of one width, and tells that the shown state may be old. */
export function ConnectionLabel({ data: { connection, state } }: { readonly data: PageData }): JSX.Element {
  const [label, tone, text] = texts[connection];
  return (
    <>
      <span class="line connection">
        <Dot tone={tone} />
        {label}
      </span>
      {state !== undefined && text !== "" && (
        <p class={`banner ${tone}`} role="alert">
          {text}
        </p>
      )}
    </>
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
