import type { JSX } from "preact";
import type { ApprovalRow } from "../../src/inspector/messages.ts";
import type { PanelProps } from "../page.ts";
import { toSpan } from "../text/format.ts";
import { toLabel } from "../text/visible.ts";
import { actionOf } from "../ui/action.ts";
import { keep } from "../ui/kept-state.ts";
import { Notice, Problem, Short, Text } from "../ui/text.tsx";

interface ApprovalProps {
  readonly approval: ApprovalRow;
  readonly left: number;
  readonly isSettled: boolean;
}

function Decision({ approval: { id, tool, word }, left, isSettled }: ApprovalProps): JSX.Element {
  const [typed, setTyped] = keep(`typed ${id}`, "");
  const { isSent, error, run } = actionOf("decide", id);
  const decide = (agree: boolean): void =>
    run({ approval: id, agree, ...(agree && word !== undefined && { word: typed }) });
  return (
    <form
      class="line"
      onSubmit={(event) => {
        event.preventDefault();
        decide(true);
      }}
    >
      {word !== undefined && (
        <label class="line">
          To agree, type <Short code value={word} />
          <input value={typed} autoComplete="off" onInput={(event) => setTyped(event.currentTarget.value)} />
        </label>
      )}
      <Problem text={error} />
      <span class="line end">
        <button type="button" disabled={isSent} aria-label={`Decline ${toLabel(tool)}`} onClick={() => decide(false)}>
          Decline
        </button>
        <button
          class="primary"
          disabled={isSent || !isSettled || left <= 0 || (word !== undefined && typed !== word)}
          aria-label={`Agree to ${toLabel(tool)}`}
        >
          Agree
        </button>
      </span>
    </form>
  );
}

function Approval(props: ApprovalProps): JSX.Element {
  const { approval, left } = props;
  return (
    <li class="card">
      <header class="line">
        <Short code value={approval.tool} />
        <Short value={`called by ${approval.caller}`} />
        <span class={left < 15_000 ? "end bad" : "end muted"}>{toSpan(left)} left</span>
      </header>
      <p class="whole">
        <Text value={approval.message} lines />
      </p>
      <Decision {...props} />
    </li>
  );
}

/** Shows the confirmations that no client can show, and decides them. */
export function ApprovalsPanel({ page: { data }, state: { approvals } }: PanelProps): JSX.Element {
  if (approvals.length === 0) {
    return <Notice title="Nothing waits for you">A confirmation that a client cannot show waits here for you.</Notice>;
  }
  return (
    <ul class="approvals">
      {approvals.map((approval) => (
        <Approval
          key={approval.id}
          approval={approval}
          left={approval.deadline - data.now}
          isSettled={data.isSettled(approval.id)}
        />
      ))}
    </ul>
  );
}
