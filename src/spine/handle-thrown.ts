/** Causes that are followed from one value. */
const maxFollowed = 8;

function follow(cause: unknown, left: number): void {
  if (left === 0 || (typeof cause !== "object" && typeof cause !== "function") || cause === null) return;
  try {
    // In a new promise: a thenable may throw when it is looked at.
    new Promise((resolve) => resolve(cause)).catch((inner: unknown) => follow(inner, left - 1));
    if (cause instanceof Error) follow(cause.cause, left - 1);
  } catch {
    // A proxy, or a getter that throws.
  }
}

/** Handles the rejection of a thrown value that is a promise, and of its `cause`: unhandled, it would end the process. Never throws. */
export function handleThrown(cause: unknown): void {
  follow(cause, maxFollowed);
}
