import type { JSX } from "preact";
import type { Page, PanelProps } from "./page.ts";
import { ApprovalsPanel } from "./panels/approvals.tsx";
import { ExposurePanel } from "./panels/exposure.tsx";
import { HistoryPanel } from "./panels/history.tsx";
import { NowPanel } from "./panels/now.tsx";
import { type PanelName, panelOf } from "./panels/panel-names.ts";
import { ValuesPanel } from "./panels/values.tsx";
import { Announcer, ConnectionNotice } from "./ui/connection-state.tsx";
import { Header } from "./ui/header.tsx";

const panels: Readonly<Record<PanelName, (props: PanelProps) => JSX.Element>> = {
  now: NowPanel,
  exposure: ExposurePanel,
  history: HistoryPanel,
  values: ValuesPanel,
  approvals: ApprovalsPanel,
};

/** The whole page. Only the panel of the address exists, so that hidden ones cost nothing. */
export function App({ page }: { readonly page: Page }): JSX.Element {
  const { state, connection } = page.data;
  const name = panelOf(location.hash, page.data);
  const Panel = panels[name];
  return (
    <>
      <Header data={page.data} selected={name} />
      <main>
        <div id="panel" role="tabpanel" aria-labelledby={`tab-${name}`}>
          {state === undefined ? (
            <ConnectionNotice state={connection} />
          ) : (
            <Panel key={name} page={page} state={state} />
          )}
        </div>
      </main>
      <Announcer data={page.data} />
    </>
  );
}
