/** The code of a failed system call; the empty string where there is none. */
export function codeOf(cause: unknown): string {
  return cause instanceof Error && "code" in cause ? String(cause.code) : "";
}
