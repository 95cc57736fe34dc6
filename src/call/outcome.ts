import type { Asking } from "../catalog/asking/asking.ts";
import type { ResourceContent } from "../catalog/entry.ts";
import type { Denied, Refused } from "../catalog/outcome.ts";

/** What came of a prompt. */
export type PromptOutcome =
  | {
      readonly kind: "messages";
      /** The text of a JSON array of messages. */
      readonly text: string;
    }
  | Asking
  | Denied
  | Refused;

/** What came of a completer. */
export type CompletionOutcome =
  | {
      readonly kind: "values";
      /** As its author proposed them: texts, of any number and length. */
      readonly values: readonly string[];
    }
  | Denied
  | Refused;

/** What came of a read. */
export type ReadOutcome =
  | {
      readonly kind: "content";
      readonly content: ResourceContent;
    }
  | {
      /** There is nothing under this URI. */
      readonly kind: "absent";
    }
  | Asking
  | Denied
  | Refused;
