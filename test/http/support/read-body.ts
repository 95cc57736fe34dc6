import type { BodyRead, HttpRequest } from "../../../src/http/message.ts";

/** Reads the body of a request, of at most so many bytes. */
export function readBody(request: HttpRequest, maxBytes: number): Promise<BodyRead> {
  return new Promise((resolve) => request.body(maxBytes, resolve));
}
