import type { Caller } from "../../catalog/caller.ts";
import type { HttpAnswer, HttpRequest } from "../message.ts";

/** Says who asks, before anything of a request's body is read. */
export interface Authenticator {
  /** Who asks, or what they are answered instead: 401 or 403. Never rejects; in doubt it is nobody. */
  authenticate(request: HttpRequest): Promise<Caller | HttpAnswer>;
  /** The value of `WWW-Authenticate` for who was not granted all of these. */
  challenge(scopes: readonly string[]): string;
  /** Where the metadata of RFC 9728 is served, as paths. */
  readonly metadataPaths: readonly string[];
  /** The metadata itself. */
  metadata(): HttpAnswer;
}
