import type { Caller } from "../surface/caller.ts";
import type { ClientRequest } from "../mcp/dispatcher.ts";
import type { NotificationFrame, RequestFrame, ResponseFrame } from "../mcp/parse-frame.ts";
import type { RpcError } from "../mcp/protocol.ts";
import type { ResolvedView } from "../mcp/resolved-view.ts";
import type { HeldBytes } from "./body/held-bytes.ts";
import type { HttpReply, HttpRequest } from "./message.ts";

/** A message of the client's, judged: one JSON-RPC object, and headers that agree with it. */
export type HttpFrame = RequestFrame | NotificationFrame | ResponseFrame;

/** A request whose caller is known. */
export interface HttpExchange {
  readonly request: HttpRequest;
  readonly reply: HttpReply;
  readonly caller: Caller;
}

/** A message that came by POST. */
export interface HttpPost extends HttpExchange {
  readonly frame: HttpFrame;
  /** What its body took: whoever keeps the frame for later holds them. Left out where nobody counts. */
  readonly bytes?: HeldBytes | undefined;
}

/** A POST whose message is a request. */
export interface RequestPost extends HttpPost {
  readonly frame: RequestFrame;
}

/** A message of a client without a session, with the view of its caller. */
export interface ModernPost extends HttpPost {
  readonly view: ResolvedView | RpcError;
}

/** A request of a caller whose view is not denied. */
export interface AdmittedPost extends RequestPost {
  readonly view: ResolvedView;
}

/** Returns whether a message is a request. */
export function isRequest<TPost extends HttpPost>(post: TPost): post is TPost & RequestPost {
  return post.frame.kind === "request";
}

/** What answers the clients of one era. Whoever made it closes it. Nothing of it throws. */
export interface Leg<TPost extends HttpPost = HttpPost> {
  post(post: TPost): void;
  /** Ends every stream with what its client waits for, and takes nothing new. Resolves when nothing runs any more. */
  drain(): Promise<void>;
  /** Aborts what runs and lets go of everything. Callable twice. */
  close(): Promise<void>;
  /** Resolves when no handler runs. A handler that never settles keeps it from that. */
  idle(): Promise<void>;
  /** Requests whose handlers run, also after the answer. */
  readonly running: readonly ClientRequest[];
  /** How many messages were thrown away before their clients were sent them. */
  readonly dropped: number;
}

/** What answers clients that have sessions. */
export interface SessionLeg extends Leg {
  /** Opens or resumes a stream of the session that the request names. */
  get(exchange: HttpExchange): void;
  /** Ends the session that the request names. */
  delete(exchange: HttpExchange): void;
}
