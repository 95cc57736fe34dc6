/** What is joined. */
export interface JoinSetting {
  readonly entries: string[];
  /** Entries that do not load `core`. @default none */
  readonly alone?: string[];
  /** A module that all `entries` load. What it reaches becomes one file. */
  readonly core: string;
  /** Entries are written under `out` as they stand under this folder. */
  readonly base: string;
  readonly out: string;
}

/** Joins modules as Node takes the package. Rejects with what esbuild says. */
export function joinModules(setting: JoinSetting): Promise<void>;
