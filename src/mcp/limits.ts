/** How large one incoming message may be. The same numbers hold for every transport, so that all of them refuse alike. */
export interface FrameLimits {
  /** Bytes of one message as it travels, without the line end. */
  readonly maxBytes: number;
  /** Objects and arrays inside each other; `{}` has depth 1. */
  readonly maxDepth: number;
  /** Array items and object properties of the whole message, counted together at every level. */
  readonly maxElements: number;
}

/**
 * The limits in force, on every transport: 4 MiB, depth 64, 10,000 elements.
 *
 * 4 MiB is the body limit the MCP SDK 2.x uses over HTTP. Depth 64 is far above any tool input seen and far below the
 * recursion any schema library survives (CWE-674). The element cap answers GHSA-46jr-4wx8-v453: inside 4 MiB a
 * validator can still be made to build a million issue objects (1.17 GB and 4 s; 124 MB and 0.1 s with this cap).
 */
export const defaultFrameLimits: FrameLimits = { maxBytes: 4 * 1024 * 1024, maxDepth: 64, maxElements: 10_000 };
