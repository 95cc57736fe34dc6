import type { JSX } from "preact";
import type { ClientRow, LinkRow, PageState, SecondTotals } from "../../src/inspector/messages.ts";
import type { PanelProps } from "../page.ts";
import { toBytes, toCount, toDuration, toSpan } from "../text/format.ts";
import { Card, Item } from "../ui/cards.tsx";
import { Fields } from "../ui/drawer.tsx";
import { Call } from "./call-tree.tsx";
import { totalOf } from "./panel-names.ts";

function Client({ row, now }: { readonly row: ClientRow; readonly now: number }): JSX.Element {
  const { client, caller } = row;
  return (
    <Item
      name={client === undefined ? "unnamed client" : `${client.name} ${client.version}`}
      chip={row.transport}
      end={`seen ${toSpan(now - row.lastAt)} ago`}
      facts={[
        caller.isAnonymous ? "anonymous" : caller.id,
        `view ${row.view}`,
        row.protocol,
        `requests: ${toCount(row.requests)}`,
        `streams: ${toCount(row.streams)}`,
      ]}
    />
  );
}

const questionKinds = { elicit: "question", sample: "model request", roots: "roots request" } as const;
const linkTones = { up: "ok", down: "bad", idle: "" } as const;
const linkReasons = {
  closed: "closed by the other side",
  gone: "its process has ended",
  lost: "does not answer",
  unreachable: "cannot be reached",
} as const;

function Link({ row, now }: { readonly row: LinkRow; readonly now: number }): JSX.Element {
  return (
    <Item
      name={row.surface}
      tone={linkTones[row.state]}
      chip={row.state}
      end={row.since === undefined ? undefined : `for ${toSpan(now - row.since)}`}
      facts={[row.reason && linkReasons[row.reason], `reconnects: ${toCount(row.reconnects)}`]}
    />
  );
}

function Figures({ state, now }: { readonly state: PageState; readonly now: number }): JSX.Element {
  const last = state.seconds.filter(({ at }) => at > now - 10_000);
  const sum = (read: (one: SecondTotals) => number): number => last.reduce((all, one) => all + read(one), 0);
  const slowest = Math.max(0, ...last.map((one) => one.p99 ?? 0));
  const figures = [
    ["Clients", toCount(totalOf(state.clients))],
    ["Running calls", toCount(totalOf(state.calls))],
    ["Open streams", toCount(state.clients.rows.reduce((all, one) => all + one.streams, 0))],
    ["Calls, last 10 s", toCount(sum((one) => one.calls))],
    ["Failed, last 10 s", toCount(sum((one) => one.failed))],
    ["p99, last 10 s", slowest === 0 ? "–" : toDuration(slowest)],
  ] as const;
  return <Fields kind="figures" fields={figures} />;
}

/** Shows what happens now: clients, running calls, questions, links and values that are stale. */
export function NowPanel({ page, state }: PanelProps): JSX.Element {
  const { now } = page.data;
  return (
    <>
      <Figures state={state} now={now} />
      <div class="cards">
        <Card title="Running calls" {...state.calls} empty="No call runs.">
          {(call) => <Call key={call.id} call={call} now={now} approvals={state.approvals} />}
        </Card>
        <div class="card-column">
          <Card title="Questions in clients" {...state.questions} empty="No client is asking its user.">
            {({ id, kind, isConfirmation, tool, caller, since }) => (
              <Item
                key={id}
                name={tool ?? questionKinds[kind]}
                tone="warn"
                chip={isConfirmation ? "confirmation" : questionKinds[kind]}
                end={`for ${toSpan(now - since)}`}
                facts={[`asked of ${caller}`]}
              />
            )}
          </Card>
          <Card title="Clients" {...state.clients} empty="No client is connected.">
            {(row) => <Client key={row.id} row={row} now={now} />}
          </Card>
          <Card title="Links" rows={state.links} empty="The app runs in this process, without a link.">
            {(row) => <Link key={row.surface} row={row} now={now} />}
          </Card>
          <Card
            title="Stale values"
            rows={state.values.rows.filter(({ isStale }) => isStale)}
            empty="No watched value is stale."
          >
            {({ uri, changedAt, bytes }) => (
              <Item
                key={uri}
                name={uri}
                tone="warn"
                end={changedAt === undefined ? undefined : `changed ${toSpan(now - changedAt)} ago`}
                facts={[bytes === undefined ? undefined : toBytes(bytes)]}
              />
            )}
          </Card>
        </div>
      </div>
    </>
  );
}
