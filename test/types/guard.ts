/** One thing in the types that keeps a promise, and what the types are without it. */
export interface Guard {
  /** What it promises. */
  readonly promise: string;
  /** The declaration file that holds it, relative to the package. */
  readonly file: string;
  /** Its text, in which a space stands for any white space. */
  readonly guard: string;
  readonly without: string;
  /** The type test that must fail without it. */
  readonly caughtBy: string;
}
