import type { JSX } from "preact";
import type { HistoryRow } from "../../src/inspector/messages.ts";
import { ifKnown, toBytes, toDuration, toMoment } from "../text/format.ts";
import { Drawer, Fields } from "../ui/drawer.tsx";
import { Json } from "../ui/json.tsx";
import { Dot, Short } from "../ui/text.tsx";

/** Shows the outcome of a row, with the stage that refused it. */
export function OutcomeMark({ row: { outcome, stage } }: { readonly row: HistoryRow }): JSX.Element {
  return (
    <span class="line">
      <Dot tone={outcome} />
      {outcome}
      {stage !== undefined && <span class="muted">{stage}</span>}
    </span>
  );
}

interface RelatedProps {
  readonly title: string;
  readonly rows: readonly HistoryRow[];
  readonly open: (row: HistoryRow) => void;
}

function Related({ title, rows, open }: RelatedProps): JSX.Element | null {
  if (rows.length === 0) return null;
  return (
    <section>
      <h3>{title}</h3>
      {rows.map((row) => (
        <button key={row.seq} class="line quiet" onClick={() => open(row)}>
          <OutcomeMark row={row} />
          <Short code value={row.name ?? row.method} />
          <span class="end">{ifKnown(row.ms, toDuration)}</span>
        </button>
      ))}
    </section>
  );
}

interface HistoryDetailsProps {
  readonly row: HistoryRow;
  readonly rows: readonly HistoryRow[];
  readonly open: (row: HistoryRow) => void;
  readonly close: () => void;
}

/** Shows all fields of a row, and the calls around it. */
export function HistoryDetails({ row, rows, open, close }: HistoryDetailsProps): JSX.Element {
  const { call, parent } = row;
  return (
    <Drawer title={row.name ?? row.method} close={close}>
      <Fields
        fields={[
          ["Outcome", <OutcomeMark row={row} />],
          ["Code", row.code],
          ["JSON-RPC code", row.rpcCode && String(row.rpcCode)],
          ["Correlation id", row.correlationId],
          ["Ended", toMoment(row.at)],
          ["Latency", ifKnown(row.ms, toDuration)],
          ["Method", row.method],
          ["Name", row.name],
          ["Kind", row.kind],
          ["Caller", row.caller],
          ["Client", row.client],
          ["View", row.view],
          ["Transport", row.transport],
          ["Request", ifKnown(row.bytesIn, toBytes)],
          ["Result", ifKnown(row.bytesOut, toBytes)],
          ["Call", call],
        ]}
      />
      <Related title="Called by" rows={rows.filter((one) => parent !== undefined && one.call === parent)} open={open} />
      <Related
        title="Nested calls"
        rows={rows.filter((one) => call !== undefined && one.parent === call)}
        open={open}
      />
      {row.arguments !== undefined && <Json label="Arguments" value={row.arguments} />}
      {row.result !== undefined && <Json label="Result" value={row.result} />}
    </Drawer>
  );
}
