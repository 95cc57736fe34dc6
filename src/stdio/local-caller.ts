import { anonymous, defaultView, type Caller } from "../surface/caller.ts";

/** What may be said of whoever is served over standard input and output. */
export interface LocalCallerOptions {
  /** The view that the host is served by. Default `"default"`. */
  readonly surface?: string;
  /** The project that rules of views are asked about. Default: none. */
  readonly project?: string;
  /** What the local user is granted: scopes that authors ask for. Default: none; nobody asks who they are. */
  readonly scopes?: readonly string[];
}

/** Returns the caller over standard input and output: anonymous, maybe with a view and scopes. */
export function toLocalCaller({ surface, project, scopes = [] }: LocalCallerOptions): Caller {
  const isNamed = surface !== undefined || project !== undefined;
  if (!isNamed && scopes.length === 0) return anonymous;
  const view = Object.freeze({ surface: surface ?? defaultView, ...(project === undefined ? {} : { project }) });
  return Object.freeze({ ...anonymous, scopes: Object.freeze([...scopes]), ...(isNamed ? { view } : {}) });
}
