import type { Chain } from "./chain.ts";

/** Takes the lines of an audit log. */
export interface AuditTarget {
  /** The target in error messages. */
  readonly name: string;
  readonly chain: Chain;
  /**
   * Prepares for a batch of at most `bytes`. Returns bytes to write before the batch, which continue the chain.
   * Rejects if the target cannot be written.
   */
  prepare(bytes: number): Promise<Buffer>;
  /** Resolves with the number of bytes that were written, which may be fewer than given. */
  write(bytes: Buffer): Promise<number>;
  /** Writes at the end of the process, after the bytes of a write under way. Throws if that takes too long. */
  writeAtExit(bytes: Buffer): void;
  close(): void;
}
