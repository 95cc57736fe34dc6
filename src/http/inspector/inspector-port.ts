import type { Outcome } from "../../observe/observation.ts";
import type { HistoryPage, PageEntry, PageExposure, PageSnapshot } from "../../inspector/messages.ts";

/** Selects rows of the history. */
export interface HistoryFilters {
  readonly before?: number;
  readonly tool?: string;
  readonly caller?: string;
  readonly outcome?: Outcome;
  readonly limit?: number;
}

/** What the routes need of an inspector. */
export interface InspectorPort {
  snapshot(): PageSnapshot;
  /** Passes each update, as JSON text. Returns a function that ends it. */
  subscribe(listener: (json: string) => void): () => void;
  history(filters: HistoryFilters): HistoryPage;
  exposure(): PageExposure;
  entry(id: string): PageEntry | undefined;
  cancel(call: string): boolean;
  decide(approval: string, decision: { readonly agree: boolean; readonly word?: string }): boolean;
}
