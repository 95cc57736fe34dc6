import type { Caller } from "../../surface/caller.ts";
import type { HttpAnswer, HttpReply, HttpRequest } from "../message.ts";

/** What tells that a client has left. */
export type Leaving = Pick<HttpReply, "isOver" | "onGone">;

/** Says who asks, before anything of a request's body is read. */
export interface Authenticator {
  /**
   * Who asks, or what they are answered instead: 401, 403, or 503 where it cannot be known now. Never rejects; in doubt it is
   * nobody.
   *
   * @param reply - whose `onGone` is used meanwhile: nothing is verified for a client that has left.
   * @param address - the client's address, under which unknown tokens are counted. @default the request's
   */
  authenticate(request: HttpRequest, reply?: Leaving, address?: string): Promise<Caller | HttpAnswer>;
  /** The value of `WWW-Authenticate` for who was not granted all of these. */
  challenge(scopes: readonly string[]): string;
  /** Where the metadata of RFC 9728 is served, as paths. */
  readonly metadataPaths: readonly string[];
  /** The metadata itself. */
  metadata(): HttpAnswer;
}
