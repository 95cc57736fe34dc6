/** What is joined. */
export interface JoinSetting {
  readonly entries: string[];
  /** Entries are written under `out` as they stand under this folder. */
  readonly base: string;
  readonly out: string;
}

/** Joins modules as Node takes the package. Rejects with what esbuild says. */
export function joinModules(setting: JoinSetting): Promise<void>;
