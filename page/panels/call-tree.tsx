import type { JSX } from "preact";
import type { CallRow, PageState } from "../../src/inspector/messages.ts";
import { toCount, toSpan } from "../text/format.ts";
import { toLabel } from "../text/visible.ts";
import { Facts } from "../ui/cards.tsx";
import { CancelButton } from "../ui/cancel-button.tsx";
import { Bar, Chip, Dot, Short } from "../ui/text.tsx";

function Progress({ done, total, message = "" }: NonNullable<CallRow["progress"]>): JSX.Element {
  return (
    <div class="line progress">
      {total !== undefined && <Bar part={done / total} tone="accent" />}
      <span class="number">{total === undefined ? toCount(done) : `${toCount(done)} of ${toCount(total)}`}</span>
      <span class="line muted">
        <Short value={message} />
      </span>
    </div>
  );
}

interface CallProps {
  readonly call: CallRow;
  readonly now: number;
  readonly approvals: PageState["approvals"];
  readonly isNested?: boolean;
}

/** Says what a call waits for, or how long it may run. */
function toWait({ call: { tool, caller, deadline = 0 }, now, approvals }: CallProps): string | false {
  if (approvals.some((one) => one.tool === tool && one.caller === caller)) return "waits for an approval";
  return deadline > now && `${toSpan(deadline - now)} left`;
}

/** Shows a running call and the calls that it made. The button cancels all of them. */
export function Call(props: CallProps): JSX.Element {
  const { call, now, isNested = false } = props;
  const { id, tool, state, progress } = call;
  return (
    <li class={isNested ? "nested" : undefined}>
      <div class="call">
        <div class="line">
          <Dot tone={state === "running" ? "accent" : "warn"} />
          <Short code value={tool} />
          {state !== "running" && <Chip text={state} />}
        </div>
        <Facts facts={[call.caller, call.view, toWait(props)]} />
        {!isNested && <CancelButton call={id} of={toLabel(tool)} />}
        <span class="elapsed">{toSpan(now - call.since)}</span>
        {progress !== undefined && <Progress {...progress} />}
      </div>
      {call.calls.length > 0 && (
        <ul>
          {call.calls.map((one) => (
            <Call key={one.id} {...props} call={one} isNested />
          ))}
          {call.more !== undefined && <li class="muted nested">and {toCount(call.more)} more</li>}
        </ul>
      )}
    </li>
  );
}
