import { burst } from "./sim-bucket.ts";
import type { ConnectionManager } from "../../src/spine/connection-manager.ts";
import { startRequest, type Reply } from "../../src/spine/request.ts";
import type { Subscriptions } from "../../src/spine/subscriptions.ts";
import { SurfaceError } from "../../src/errors.ts";
import type { Clock } from "../../src/spine/clock.ts";
import type { Context } from "./context.ts";
import type { FarSide } from "./far-side.ts";
import type { SimKey, SimValue } from "./sim-key.ts";
import type { SimLink } from "./sim-link.ts";
import { SimPair } from "./sim-pair.ts";
import { type SimAnswer, SimRequest, SimSending } from "./sim-request.ts";

/** The spine under test, as its clients see it. */
export interface Spine {
  readonly holder: ConnectionManager<SimLink>;
  readonly subscriptions: Subscriptions<SimLink, SimValue>;
  readonly clock: Clock;
}

/** Everybody who uses the spine: who subscribes, reads, mutates and cancels, also from within what they are told. */
export class Clients {
  readonly #context: Context;
  readonly #far: FarSide;
  readonly #spine: Spine;
  readonly pairs: SimPair[] = [];
  /** Requests that are neither settled nor cancelled. */
  readonly requests: SimRequest[] = [];
  isClosed = false;
  /** When somebody last used the link. */
  lastUse = 0;
  #lastId = 0;

  constructor(context: Context, far: FarSide, spine: Spine) {
    this.#context = context;
    this.#far = far;
    this.#spine = spine;
  }

  get isIdle(): boolean {
    return this.pairs.length === 0 && this.requests.length === 0;
  }

  /** Subscribes, if the gate lets it, and reads. */
  subscribe(key: SimKey): void {
    const context = this.#context;
    if (key.isDenied) return;
    this.#lastId += 1;
    const pair = new SimPair(this.#lastId, key);
    context.trace?.push(`  pair ${pair.id} subscribes to ${key.name}`);
    this.pairs.push(pair);
    if (key.pairs.length === 0) this.#far.expect(key, pair.id);
    key.pairs.push(pair);
    pair.subscription = this.#spine.subscriptions.subscribe(
      {
        key: key.name,
        windowMs: key.windowMs,
        open: (link: SimLink, events) => this.#far.watch(key, link, events),
      },
      { changed: () => this.#onChanged(pair), moved: () => this.#onMoved(pair) },
    );
    pair.seen = pair.subscription.version;
    if (!pair.isEnded) this.#read(pair);
  }

  unsubscribe(pair: SimPair): void {
    if (pair.isEnded || pair.subscription === undefined) return;
    this.#context.trace?.push(`  pair ${pair.id} unsubscribes from ${pair.key.name}`);
    this.#forget(pair);
    pair.subscription.end();
    if (pair.reading !== undefined) this.cancel(pair.reading);
  }

  #forget(pair: SimPair): void {
    pair.isEnded = true;
    remove(this.pairs, pair);
    remove(pair.key.pairs, pair);
    if (pair.key.pairs.length === 0) this.#far.expectNothing(pair.key);
    this.lastUse = this.#context.clock.elapsed;
  }

  #onMoved(pair: SimPair): void {
    this.#checkHeard(pair, "moved");
    this.#context.meddle(0.02);
  }

  #onChanged(pair: SimPair): void {
    const context = this.#context;
    const { key } = pair;
    this.#checkHeard(pair, "changed");
    const now = context.clock.elapsed;
    this.#takeToken(pair, now);
    pair.notices += 1;
    pair.lastNotice = now;
    key.lastNotice = now;
    key.notices += 1;
    pair.dirtySince = undefined;
    pair.seen = pair.subscription?.version ?? 0;
    this.#read(pair);
    context.meddle(0.08);
  }

  /**
   * I7: a burst at most, and then one a window. After a clock jump the bucket of a pair counts as full and that of its key as
   * empty; so does that of its key after a timer, which may have taken a token for a pair that has left.
   */
  #takeToken(pair: SimPair, now: number): void {
    const { key } = pair;
    const { lastJump, lastWatchTimer } = this.#context.clock;
    const tokens = lastJump < pair.lastNotice ? pair.bucket.tokens(now, key.windowMs) : burst;
    if (tokens < 1 - 1e-6) this.#context.fail("I7", `pair ${pair.id} is told more often than its window allows`);
    pair.bucket.set(tokens - 1, now);
    const isKnown = lastJump < key.lastNotice && lastWatchTimer <= key.lastNotice;
    const left = isKnown ? key.bucket.tokens(now, key.windowMs) - 1 : 0;
    key.bucket.set(Math.max(0, left), now);
  }

  #checkHeard(pair: SimPair, what: string): void {
    const context = this.#context;
    context.activity += 1;
    context.trace?.push(`  pair ${pair.id} is told: ${what}`);
    if (pair.isEnded) context.fail("I1", `pair ${pair.id} is told after it has ended: ${what}`);
    if (pair.subscription === undefined) context.fail("I1", `pair ${pair.id} is told before it is subscribed: ${what}`);
    if (this.isClosed) context.fail("I1", `pair ${pair.id} is told after close(): ${what}`);
  }

  /** A pair reads: from what is watched, where that is known, and else by a request. */
  #read(pair: SimPair): void {
    if (pair.reading !== undefined) this.cancel(pair.reading);
    const warm = this.#spine.subscriptions.latest(pair.key.name);
    if (warm === undefined) return this.request("read", pair.key, pair);
    if (warm.value.key !== pair.key.name) this.#context.fail("I14", `${pair.key.name} is read as ${warm.value.key}`);
    pair.knows = warm.value.version;
  }

  /** Asks for a key, if the gate lets it. */
  request(kind: "read" | "mutation", key: SimKey, reader?: SimPair): void {
    const context = this.#context;
    if (key.isDenied) return;
    this.#lastId += 1;
    const patienceMs = context.chance.hits(0.5) ? 2000 : 5000;
    const request = new SimRequest(this.#lastId, { kind, key, patienceMs, reader });
    context.trace?.push(`  request ${request.id}: ${kind} ${key.name}`);
    this.requests.push(request);
    if (reader !== undefined) reader.reading = request;
    request.cancel = startRequest<SimLink, SimAnswer>(this.#spine.holder, this.#spine.clock, {
      what: key.name,
      kind,
      patienceMs,
      waiting: () => {
        request.waitingSince ??= context.clock.elapsed;
      },
      send: (link, reply) => this.#send(request, link, reply),
      answered: (answer) => this.#onAnswered(request, answer),
      failed: (cause) => this.#onFailed(request, cause),
    });
  }

  #send(request: SimRequest, link: SimLink, reply: Reply<SimAnswer>): () => void {
    const context = this.#context;
    context.activity += 1;
    context.trace?.push(`  request ${request.id} is sent on ${link.id}`);
    this.#checkSending(request, link);
    request.sends += 1;
    request.lastLink = link.id;
    const sending = new SimSending(request, link, reply);
    request.sending = sending;
    this.#far.sendings.push(sending);
    context.meddle(0.02);
    if (context.isFailing()) this.#far.lose(sending, context.chance.hits(0.5));
    else if (!sending.isOver) this.#replyAtOnce(sending);
    return () => this.#cancelSending(sending);
  }

  #checkSending(request: SimRequest, link: SimLink): void {
    const context = this.#context;
    if (request.key.isDenied) context.fail("I13", `request ${request.id} is sent, which the gate denies`);
    if (request.isOver) context.fail("I11", `request ${request.id} is sent after it is over`);
    if (!link.isPresent) context.fail("I4", `request ${request.id} is sent on a link that is gone`);
    if (request.kind === "mutation" && request.sends > 0) context.fail("I12", `mutation ${request.id} is sent again`);
    this.#checkOrder(request, link);
    if (request.lastLink === link.id) context.fail("I12", `request ${request.id} is sent twice on link ${link.id}`);
    if (request.sends >= 3) context.fail("I12", `request ${request.id} is sent more than three times`);
  }

  /** I6: the first snapshot is no news, so a client that has subscribed and reads before it would miss a change between the two. */
  #checkOrder({ id, key }: SimRequest, link: SimLink): void {
    if (id <= key.watchedFrom || key.newest?.link === link) return;
    this.#context.fail("I6", `request ${id} is sent on link ${link.id} before the stream of ${key.name}`);
  }

  #replyAtOnce(sending: SimSending): void {
    const context = this.#context;
    const luck = context.isCalm ? 1 : context.chance.next();
    if (sending.link.isDead && luck < 0.5) this.#far.lose(sending, luck < 0.1);
    else if (luck < 0.1) this.#far.answer(sending);
    else if (luck < 0.12 && sending.request.reader === undefined) this.#far.refuseSending(sending);
    else if (luck > 0.97) this.#far.lose(sending, luck > 0.98);
  }

  #cancelSending(sending: SimSending): void {
    const context = this.#context;
    context.activity += 1;
    if (sending.isTold) {
      context.fail("I11", `request ${sending.request.id} is cancelled where it was answered`);
    }
    sending.isOver = true;
    remove(this.#far.sendings, sending);
    this.#far.keep(sending);
    context.meddle(0.02);
  }

  #onAnswered(request: SimRequest, answer: SimAnswer): void {
    const context = this.#context;
    if (request.reader?.reading === request) request.reader.knows = answer.version;
    this.#settle(request, "answered");
    if (answer.request !== request.id) context.fail("I14", `request ${request.id} has the answer of ${answer.request}`);
    if (answer.principal !== request.key.principal) context.fail("I14", `request ${request.id} has a foreign answer`);
    context.meddle(0.08);
  }

  #onFailed(request: SimRequest, cause: unknown): void {
    const context = this.#context;
    if (request.reader?.reading === request) request.reader.knows = 0;
    this.#settle(request, "failed");
    this.#checkFailure(request, cause);
    context.meddle(0.08);
  }

  #checkFailure(request: SimRequest, cause: unknown): void {
    const context = this.#context;
    if (cause === "no") return;
    const code = cause instanceof SurfaceError ? cause.code : "a foreign error";
    const isPossible =
      (code === "UNAVAILABLE" && request.applied === 0) ||
      (code === "OUTCOME_UNKNOWN" && request.kind === "mutation" && request.sends === 1) ||
      (code === "CLOSED" && this.isClosed);
    if (!isPossible) {
      const { kind, id, sends, applied } = request;
      context.fail("I12", `${kind} ${id}, sent ${sends} times and done ${applied} times, fails with ${code}`);
    }
  }

  #settle(request: SimRequest, how: string): void {
    const context = this.#context;
    context.activity += 1;
    context.trace?.push(`  request ${request.id} is ${how}`);
    if (request.isCancelled) context.fail("I11", `request ${request.id} is ${how} after it was cancelled`);
    else if (request.isOver) context.fail("I11", `request ${request.id} is ${how} once more`);
    this.#end(request);
  }

  #end(request: SimRequest): void {
    request.isOver = true;
    if (request.reader?.reading === request) request.reader.reading = undefined;
    remove(this.requests, request);
    this.lastUse = this.#context.clock.elapsed;
  }

  cancel(request: SimRequest): void {
    // Nobody can cancel what they have not been handed yet.
    if (request.isOver || request.cancel === undefined) return;
    this.#context.trace?.push(`  request ${request.id} is cancelled`);
    request.isCancelled = true;
    if (request.reader !== undefined) request.reader.knows = 0;
    this.#end(request);
    request.cancel();
  }

  /** Ends all: everybody is told once, and then nobody. */
  close(): void {
    this.#context.trace?.push("  close()");
    this.#far.isShut = true;
    this.isClosed = true;
    this.#spine.holder.close();
  }
}

function remove<T>(list: T[], item: T): void {
  const at = list.indexOf(item);
  if (at >= 0) list.splice(at, 1);
}
