import type { Caller } from "../surface/caller.ts";
import type { NotificationFrame, RequestFrame, ResponseFrame } from "../mcp/parse-frame.ts";
import type { RpcError } from "../mcp/protocol.ts";
import type { ResolvedView } from "../mcp/resolved-view.ts";
import type { HeldBytes } from "./body.ts";
import type { HttpReply, HttpRequest } from "./message.ts";

/** A request whose caller is known. */
export interface HttpExchange {
  readonly request: HttpRequest;
  readonly reply: HttpReply;
  readonly caller: Caller;
}

/** A JSON-RPC request whose headers agree with its body. */
export interface RequestPost extends HttpExchange {
  readonly frame: RequestFrame;
  /** The bytes of the body, which the request holds while it waits or runs. @default nothing counts them */
  readonly bytes?: HeldBytes | undefined;
}

/** A request of a client without a session, with the view of its caller. */
export interface ModernPost extends RequestPost {
  readonly view: ResolvedView | RpcError;
}

/** A request of a caller whose view is not denied. */
export interface AdmittedPost extends RequestPost {
  readonly view: ResolvedView;
}

/** A notification or a response. */
export interface MessagePost extends HttpExchange {
  readonly frame: NotificationFrame | ResponseFrame;
}
