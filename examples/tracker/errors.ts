/** Errors that are meant for the user. The REST routes answer each with a status of its own. */
export class NotFoundError extends Error {
  override readonly name = "NotFoundError";
}

export class ConflictError extends Error {
  override readonly name = "ConflictError";
}

export class ForbiddenError extends Error {
  override readonly name = "ForbiddenError";
}

/** The database cannot be reached. */
export class UnavailableError extends Error {
  override readonly name = "UnavailableError";
}
