import type { JSX } from "preact";
import { actionOf } from "./action.ts";
import { keep } from "./kept-state.ts";
import { Problem } from "./text.tsx";

interface CancelButtonProps {
  readonly call: string;
  /** Names the call for screen readers. */
  readonly of: string;
}

const focus = (element: HTMLElement | null): void => element?.focus();

/** Cancels a call after it asked once more. "Keep" takes its place, and the second click of a double click does nothing. */
export function CancelButton({ call, of }: CancelButtonProps): JSX.Element {
  const { isSent, error, run } = actionOf("cancel", call);
  const [isAsking, setAsking] = keep(`asks ${call}`, false);
  const confirm = (): void => {
    setAsking(false);
    run({ call });
  };
  return (
    <span class="line confirm">
      <Problem text={error} />
      {isAsking && (
        <button class="bad" aria-label={`Cancel call of ${of}`} onClick={confirm}>
          Cancel call
        </button>
      )}
      <button
        ref={isAsking ? focus : null}
        aria-label={`${isAsking ? "Keep" : "Cancel"} ${of}`}
        disabled={isSent}
        onClick={({ detail }) => detail < 2 && setAsking(!isAsking)}
      >
        {isAsking ? "Keep" : "Cancel"}
      </button>
    </span>
  );
}
