import type { Inspector } from "../../inspector/inspector.ts";

type Requests = Pick<Inspector, "history" | "exposure" | "entry" | "cancel" | "decide">;

/** An {@link Inspector} of this process, or of one that it is connected to. */
export type PageSource = Pick<Inspector, "snapshot"> & {
  /** Whether there is no connection. Then all other functions fail. Left out by an inspector of this process. */
  readonly isAway?: boolean;
  /** As the function of {@link Inspector}. @param lost - called when the connection is lost, at most once. */
  subscribe(tell: (json: string) => void, lost: () => void): () => void;
} & {
  readonly [TName in keyof Requests]: (
    ...given: Parameters<Requests[TName]>
  ) => ReturnType<Requests[TName]> | Promise<ReturnType<Requests[TName]>>;
};
