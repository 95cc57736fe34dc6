import { rpcCodes, toRpcError } from "../../mcp/protocol.ts";
import { isRefused } from "../admission.ts";
import type { HttpSetting } from "../setting.ts";
import { ListenStream } from "./listen-stream.ts";
import type { ModernRequest } from "./modern-request.ts";

const unreadable = toRpcError(rpcCodes.invalidRequest, 'Invalid request: "Accept" must allow "text/event-stream"');

/** The subscriptions of all clients of the modern era. Whoever made it closes it. */
export class ListenStreams {
  readonly #setting: HttpSetting;
  readonly #open = new Set<ListenStream>();

  constructor(setting: HttpSetting) {
    this.#setting = setting;
  }

  /** Opens one, or answers why not. */
  open(request: ModernRequest): void {
    const { reply, caller, frame, isStreamable } = request;
    const { responder, admission } = this.#setting;
    const answered = { id: frame.id, era: "modern" } as const;
    if (!isStreamable) return responder.answer(reply, unreadable, { ...answered, status: 406 });
    const place = admission.openStream(caller);
    if (isRefused(place)) {
      const { scope, limit } = place;
      const busy = toRpcError(rpcCodes.busy, "Server busy: too many streams are open", { scope, limit });
      return responder.answer(reply, busy, answered);
    }
    const onOver = (): void => {
      this.#open.delete(stream);
      place.release();
    };
    const stream = new ListenStream({ id: frame.id, reply, caller, setting: this.#setting, onOver });
    this.#open.add(stream);
    stream.open(frame);
  }

  /** Ends all of them, each with its result. Callable twice. */
  end(): void {
    for (const stream of this.#open) stream.end();
  }
}
