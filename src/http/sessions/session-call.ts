import { CallContext } from "../../call/call-context.ts";
import { renderLogged, type ClientLog } from "../../mcp/client-log.ts";
import { toProgressSink } from "../../mcp/progress-sink.ts";
import type { PostedRequest } from "./posted-request.ts";
import type { SessionStreams } from "./session-streams.ts";

/** Makes the call of one request: what it tells goes out on its own stream, or on that of what belongs to no request. */
export function toSessionCall(posted: PostedRequest, streams: SessionStreams, log: ClientLog | undefined): CallContext {
  const { token, post } = posted;
  // What belongs to a request that is answered in one piece goes where what belongs to none does.
  const { tell, isFull } = token === undefined ? streams : posted;
  return new CallContext({
    sink: token === undefined ? undefined : toProgressSink(token, { send: tell, isFull }),
    log: log?.sinkFor("legacy", undefined, { send: (params) => tell(renderLogged(params)), isFull }),
    caller: post.caller,
    limiter: streams.http.limiter,
    reached: (stage) => {
      streams.http.counters.reached(stage);
      if (stage === "backend") posted.begun();
    },
  });
}
