/** Where a command runs: everything that it would otherwise take from the process. */
export interface CliSetting {
  /** The home folder of whoever runs it. */
  readonly home: string;
  readonly cwd: string;
  readonly platform: NodeJS.Platform;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Whether somebody looks at what it writes: then it may be coloured. */
  readonly isTerminal: boolean;
  /** Writes a result. */
  write(text: string): void;
  /** Writes why there is none. */
  complain(text: string): void;
}
