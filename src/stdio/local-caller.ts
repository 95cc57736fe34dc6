import { anonymous, defaultView, type Caller } from "../surface/caller.ts";
import { SurfaceError } from "../errors.ts";
import { assertScopes } from "../tags/scopes.ts";

/** What may be said of whoever is served over standard input and output. */
export interface LocalCallerOptions {
  /** The view that the host is served by. Default `"default"`. */
  readonly surface?: string;
  /** The project that rules of views are asked about. Default: none. */
  readonly project?: string;
  /** What the local user is granted: scopes that authors ask for. Default: none; nobody asks who they are. */
  readonly scopes?: readonly string[];
}

/** The longest name of a view or a project, in bytes; over HTTP the same. */
const maxNameBytes = 256;

function assertName(option: string, name: unknown): void {
  if (name === undefined || (typeof name === "string" && name !== "" && Buffer.byteLength(name) <= maxNameBytes))
    return;
  const what = `Serving over stdio: "${option}" must be a text of 1 to ${maxNameBytes} bytes`;
  throw new SurfaceError("INVALID_OPTION", what);
}

/**
 * Who asks over standard input and output: nobody is named, but they may have been granted something, and come by a view.
 *
 * @throws SurfaceError `INVALID_OPTION`.
 */
export function toLocalCaller({ surface, project, scopes = [] }: LocalCallerOptions): Caller {
  assertScopes(scopes, "Serving over stdio");
  assertName("surface", surface);
  assertName("project", project);
  const isNamed = surface !== undefined || project !== undefined;
  if (!isNamed && scopes.length === 0) return anonymous;
  const view = Object.freeze({ surface: surface ?? defaultView, ...(project === undefined ? {} : { project }) });
  return Object.freeze({ ...anonymous, scopes: Object.freeze([...scopes]), ...(isNamed ? { view } : {}) });
}
