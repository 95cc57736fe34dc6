/** Bugs that the backend can be told to have, so that the checks have something to find. */
export const backendBugs = ["applies twice", "forgets a change", "answers without applying"] as const;

/** One of them. */
export type BackendBug = (typeof backendBugs)[number];

/** What the driver tells the backend: change things all the time, or change them once more and be quiet. */
export interface BackendOrder {
  readonly order: "stir" | "settle";
  /** Decides what settling changes. */
  readonly seed: number;
}

/** What the backend knows of a resource once it is quiet. */
export interface FinalValue {
  readonly uri: string;
  /** Its text; `null` where there is nothing. */
  readonly text: string | null;
  /** When this backend has changed it last; `null` where it never has. */
  readonly changedAt: number | null;
}

/** What the backend tells the driver. */
export type BackendReport =
  | { readonly is: "listening"; readonly at: number }
  | { readonly is: "settled"; readonly values: readonly FinalValue[] };
