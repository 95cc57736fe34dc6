/** What an error of the file system says that it is; `undefined` for any other. */
export function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}

/** What is asked of the file system; `undefined` where there is no such file. */
export async function unlessMissing<TValue>(asked: Promise<TValue>): Promise<TValue | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}
