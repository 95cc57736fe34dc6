import { Refusal, SurfaceError, type Issue } from "../errors.ts";

/** What a caller is told of a call or read that did not give an answer. Safe to show as it is. */
export interface Refused {
  readonly kind: "refused";
  /** A code of this package, or the author's own. */
  readonly code: string;
  readonly message: string;
  readonly issues: readonly Issue[];
  /** The author's details; any JSON value. */
  readonly details: unknown;
  readonly correlationId: string | undefined;
}

/** What came of a tool call. */
export type ToolOutcome =
  | {
      readonly kind: "answer";
      /** The text of a JSON object. */
      readonly text: string;
    }
  | Refused;

/** What came of a read. */
export type ReadOutcome =
  | {
      readonly kind: "content";
      /** JSON text. */
      readonly text: string;
    }
  | {
      /** There is nothing under this URI. */
      readonly kind: "absent";
    }
  | Refused;

/** The refusal that stands for an error which was masked already. */
export function toRefused(error: SurfaceError | Refusal): Refused {
  if (error instanceof Refusal) {
    const { code, message, details } = error;
    return { kind: "refused", code, message, issues: [], details, correlationId: undefined };
  }
  const { code, message, issues, correlationId } = error;
  return { kind: "refused", code, message, issues, details: undefined, correlationId };
}
