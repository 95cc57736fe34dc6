import { methodsOf, type Method, type Methods } from "../mcp/methods.ts";
import { rpcCodes, toRpcError, type RpcAnswer } from "../mcp/protocol.ts";
import { busy, closing, unknownMethod } from "../mcp/refusals.ts";
import type { Turning } from "./admission.ts";
import { guard } from "./guard.ts";
import type { HttpPost, Leg } from "./leg.ts";
import { ListenStreams } from "./modern/listen-streams.ts";
import { Exchange } from "./modern/exchange.ts";
import { readModernRequest, type ModernRequest } from "./modern/modern-request.ts";
import { toHandlerWork, type Work } from "./modern/work.ts";
import type { HttpSetting } from "./setting.ts";

const nothingAsked = toRpcError(rpcCodes.invalidRequest, "Invalid request: this server has asked nothing");

/** A request that has come in, and is not answered yet. */
interface Running {
  readonly exchange: Exchange;
  readonly work: Work;
  /** Left out where it did not have to ask for its turn. */
  turning: Turning | undefined;
}

/** Answers the clients of the modern era: each request stands alone, and nothing is found by the ids that clients give. */
class ModernLeg implements Leg {
  readonly #setting: HttpSetting;
  readonly #methods: Methods;
  readonly #listens: ListenStreams;
  readonly #running = new Set<Running>();
  readonly #onIdle: (() => void)[] = [];
  #isClosing = false;
  #dropped = 0;

  constructor(setting: HttpSetting) {
    this.#setting = setting;
    this.#methods = methodsOf(setting.runtime);
    this.#listens = new ListenStreams(setting);
  }

  post(post: HttpPost): void {
    const { frame, reply } = post;
    const { responder, counters, runtime } = this.#setting;
    if (frame.kind === "response") return responder.refuse(reply, nothingAsked, { status: 400 });
    // There is nothing that a client of this era could tell: it cancels by leaving.
    if (frame.kind === "notification") return reply.answer({ status: 202 });
    if (this.#isClosing) return responder.answer(reply, closing, { id: frame.id, era: "modern", status: 503 });
    counters.reached("caps");
    const denied = runtime.refuse(post.caller);
    if (denied !== undefined) return responder.answer(reply, denied, { id: frame.id, era: "modern" });
    const request = readModernRequest(post, frame);
    if ("code" in request) return responder.answer(reply, request, { id: frame.id, era: "modern", status: 400 });
    this.#serve(request);
  }

  get dropped(): number {
    return this.#dropped;
  }

  async drain(): Promise<void> {
    this.#isClosing = true;
    this.#listens.end();
    if (this.#running.size > 0) await new Promise<void>((resolve) => this.#onIdle.push(resolve));
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    for (const running of this.#running) {
      if (running.turning?.withdraw() !== true) running.work.close();
      else {
        running.exchange.answer(closing, 503);
        this.#forget(running);
      }
    }
    await this.drain();
  }

  #serve(request: ModernRequest): void {
    const { frame, reply } = request;
    const { id, method: name } = frame;
    // Its client left while the body was read.
    if (reply.isOver) return;
    const method = this.#methods.modern.get(name);
    if (method !== undefined) return this.#run(request, method);
    if (name === "subscriptions/listen") return this.#listens.open(request);
    this.#setting.responder.answer(reply, unknownMethod, { id, era: "modern" });
  }

  #run(request: ModernRequest, method: Method): void {
    const setting = this.#setting;
    const { frame, reply, caller, answering } = request;
    const abandon = (): void => this.#abandon(running);
    const dropped = (): void => void (this.#dropped += 1);
    const exchange = new Exchange({ id: frame.id, reply, setting, answering, dropped, abandon });
    const running: Running = {
      exchange,
      work: toHandlerWork(method, { request, exchange, setting }),
      turning: undefined,
    };
    this.#running.add(running);
    const { turn } = method;
    const guarding = { method: frame.method, report: setting.runtime.report };
    const settle = (): Promise<void> => this.#settle(running);
    const answer = (failure: RpcAnswer): void => exchange.answer(failure, 500);
    if (turn === "none") return guard(settle(), { ...guarding, answer });
    // Its place is free when its work has ended, and not when its client has left.
    const start = (done: () => void): void =>
      guard(
        settle().finally(() => running.work.whenIdle(done)),
        { ...guarding, answer },
      );
    running.turning = setting.admission.take({ caller, reply, bytes: request.bytes }, turn, start);
    if (running.turning !== undefined) return;
    this.#forget(running);
    exchange.answer(busy);
  }

  async #settle(running: Running): Promise<void> {
    try {
      await running.work.run();
    } finally {
      this.#forget(running);
    }
  }

  #abandon(running: Running): void {
    if (running.turning?.withdraw() === true) this.#forget(running);
    else running.work.cancel();
  }

  #forget(running: Running): void {
    this.#running.delete(running);
    if (this.#running.size === 0) for (const resolve of this.#onIdle.splice(0)) resolve();
  }
}

/** Makes what answers the clients of the modern era. Whoever made it closes it. */
export function createModernLeg(setting: HttpSetting): Leg {
  return new ModernLeg(setting);
}
