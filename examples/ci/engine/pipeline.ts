/** One node of a {@link Pipeline}, ready to run: every path absolute, every default filled in. */
export interface PipelineNode {
  readonly id: string;
  /** The program and its arguments. No shell reads it. */
  readonly command: readonly [string, ...string[]];
  /** Ids that must have passed before this node starts. */
  readonly needs: readonly string[];
  /** Absolute folder the command runs in. */
  readonly cwd: string;
  /** Variables on top of the inherited environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Milliseconds a run may take before it is ended and counts as failed. */
  readonly timeoutMs: number;
}

/** A checked pipeline: ids are unique, every need exists, and there is no cycle. */
export interface Pipeline {
  readonly name: string;
  /** In the order of the file, which is the order in which ready nodes start. */
  readonly nodes: readonly PipelineNode[];
}
