/** Modules to join. */
export interface JoinOptions {
  readonly entries: string[];
  /** The folder under which the entries are; `out` has the same folders. */
  readonly base: string;
  readonly out: string;
}

/** Joins modules as in the package. Rejects if one of them cannot be read. */
export function joinModules(options: JoinOptions): Promise<void>;
