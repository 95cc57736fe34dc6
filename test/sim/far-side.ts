import type { Dial } from "../../src/spine/connection-manager.ts";
import type { WatchEvents } from "../../src/spine/subscriptions.ts";
import type { Context } from "./context.ts";
import { toExpectation } from "./notice-model.ts";
import type { SimKey, SimValue } from "./sim-key.ts";
import { SimAttempt, SimLink } from "./sim-link.ts";
import type { SimSending } from "./sim-request.ts";
import { SimStream } from "./sim-stream.ts";

/** Something that is over for the spine and yet may be heard of. */
export type Stale = SimAttempt | SimLink | SimStream | SimSending;

const keptStale = 12;

/** What the spine reaches: attempts, links, streams and sendings, and everything that may go wrong with them. */
export class FarSide {
  readonly #context: Context;
  /** Attempts that came to nothing yet and were not abandoned. */
  readonly attempts: SimAttempt[] = [];
  /** Links that were neither closed nor have told their end. */
  readonly links: SimLink[] = [];
  readonly streams: SimStream[] = [];
  /** Sent, and neither answered nor cancelled. */
  readonly sendings: SimSending[] = [];
  readonly stale: Stale[] = [];
  isShut = false;
  #opened: () => void = () => {};
  #lastId = 0;

  constructor(context: Context) {
    this.#context = context;
  }

  /** Has each link told that came in time. */
  onOpened(opened: () => void): void {
    this.#opened = opened;
  }

  /** The one link that is in use. */
  get present(): SimLink | undefined {
    return this.links.find((link) => link.isPresent);
  }

  readonly dial: Dial<SimLink> = (events) => {
    const context = this.#context;
    context.activity += 1;
    this.#lastId += 1;
    const attempt = new SimAttempt(this.#lastId, events);
    context.trace?.push(`  dial ${attempt.id}`);
    if (this.isShut) context.fail("I5", `dial ${attempt.id} after close()`);
    if (this.attempts.length > 0 || this.present !== undefined)
      context.fail("I2", `dial ${attempt.id} is a second one`);
    this.attempts.push(attempt);
    context.meddle(0.04);
    if (context.isFailing()) this.#failDial(attempt);
    else if (!attempt.isAbandoned) this.#answerAtOnce(attempt);
    return () => this.#abandon(attempt);
  };

  #failDial(attempt: SimAttempt): void {
    if (this.#context.chance.hits(0.5)) this.refuse(attempt);
    else this.dropDial(attempt);
  }

  #answerAtOnce(attempt: SimAttempt): void {
    const { chance } = this.#context;
    const luck = this.#context.isCalm ? 1 : chance.next();
    if (luck < 0.04) this.refuse(attempt);
    else if (luck < 0.12) this.open(attempt);
    if (luck >= 0.1 && luck < 0.11) this.announceDial(attempt);
    else if (luck >= 0.11 && luck < 0.13) this.dropDial(attempt);
  }

  /** It is there. */
  open(attempt: SimAttempt): void {
    const context = this.#context;
    const isForeign = attempt.isAbandoned;
    this.#tell(attempt);
    const link = new SimLink(attempt, (closing) => this.#close(closing));
    context.trace?.push(`  open ${attempt.id}${isForeign ? " (too late)" : ""}`);
    if (!isForeign) {
      this.links.push(link);
      this.#opened();
    }
    attempt.events.opened(link);
    if (isForeign && link.closes !== 1)
      context.fail("I2", `link ${link.id} came too late: closed ${link.closes} times`);
  }

  refuse(attempt: SimAttempt): void {
    this.#context.fault("dial refused");
    this.#tell(attempt);
    attempt.events.failed("refused");
  }

  /** Born dead: its end is told in place of its beginning, or right after it. */
  dropDial(attempt: SimAttempt): void {
    this.#context.fault("link born dead");
    const link = this.links.find((held) => held.attempt === attempt);
    if (link !== undefined) return this.end(link);
    if (attempt.isTold) return;
    this.#tell(attempt);
    attempt.events.ended("born dead");
  }

  /** A link that says that it is going as soon as it is there. */
  announceDial(attempt: SimAttempt): void {
    const link = this.links.find((held) => held.attempt === attempt);
    if (link !== undefined) this.announce(link);
  }

  #tell(attempt: SimAttempt): void {
    attempt.isTold = true;
    remove(this.attempts, attempt);
    remove(this.stale, attempt);
  }

  #abandon(attempt: SimAttempt): void {
    const context = this.#context;
    context.activity += 1;
    attempt.isAbandoned = true;
    if (attempt.isTold) return;
    context.trace?.push(`  abandon ${attempt.id}`);
    remove(this.attempts, attempt);
    if (context.strikes(0.2)) this.refuse(attempt);
    else this.keep(attempt);
    context.meddle(0.04);
  }

  #close(link: SimLink): void {
    const context = this.#context;
    context.activity += 1;
    if (link.closes > 1) return context.fail("I2", `link ${link.id} is closed twice`);
    context.trace?.push(`  close ${link.id}`);
    remove(this.links, link);
    for (const sending of this.sendings.filter((each) => each.link === link)) this.#retire(sending);
    if (context.strikes(0.2)) {
      link.isEnded = true;
      link.attempt.events.ended("closed");
    } else if (!link.isEnded) this.keep(link);
    context.meddle(0.04);
  }

  /** It says that it is going. */
  announce(link: SimLink): void {
    this.#context.fault("link leaves");
    link.isLeaving = true;
    link.attempt.events.leaving();
  }

  /** It is gone. What was under way on it may say so before, afterwards, or not at all. */
  end(link: SimLink): void {
    const context = this.#context;
    context.fault("link ended");
    link.isDead = true;
    for (const stream of this.streams.filter((each) => each.link === link)) {
      if (context.strikes(0.3)) this.failStream(stream, false);
    }
    for (const sending of this.sendings.filter((each) => each.link === link)) {
      if (context.strikes(0.3) && !sending.isOver) this.lose(sending, true);
    }
    if (link.isEnded || link.closes > 0) return;
    link.isEnded = true;
    remove(this.links, link);
    const cut = this.sendings.filter((each) => each.link === link);
    for (const sending of cut) this.#retire(sending);
    link.attempt.events.ended("ended");
  }

  /** Somebody begins to watch a key: the pair with this id. */
  expect(key: SimKey, pair: number): void {
    key.watchedFrom = pair;
    key.streams = 0;
    key.newest = undefined;
    key.watchedSince = this.#context.clock.elapsed;
    key.firstLink = (this.present ?? this.attempts[0])?.id ?? this.#lastId + 1;
  }

  /** The last of those who watched a key has left. */
  expectNothing(key: SimKey): void {
    key.overOn = undefined;
    key.watchedFrom = Number.POSITIVE_INFINITY;
  }

  /** Opens a stream. */
  watch(key: SimKey, link: SimLink, events: WatchEvents<SimValue>): () => void {
    const context = this.#context;
    context.activity += 1;
    const stream = new SimStream(key, link, events);
    context.trace?.push(`  stream of ${key.name} on ${link.id}`);
    this.#checkOpening(key, link);
    this.streams.push(stream);
    key.streams += 1;
    key.open = stream;
    key.newest = stream;
    context.meddle(0.04);
    if (context.isFailing()) this.failStream(stream, false);
    else this.#speakAtOnce(stream);
    stream.isOpening = false;
    return () => this.#stop(stream);
  }

  #checkOpening(key: SimKey, link: SimLink): void {
    const context = this.#context;
    if (key.isDenied) context.fail("I13", `a stream of ${key.name} is opened, which the gate denies`);
    if (key.open?.isOpening === false) context.fail("I4", `a second stream of ${key.name} is opened`);
    if (!link.isPresent) context.fail("I4", `a stream of ${key.name} is opened on a link that is gone`);
    if (key.pairs.length === 0) context.fail("I5", `a stream of ${key.name} is opened for nobody`);
    if (key.overOn === link) context.fail("I9", `a stream of ${key.name} is opened again on link ${link.id}`);
  }

  #speakAtOnce(stream: SimStream): void {
    const luck = this.#context.isCalm ? 1 : this.#context.chance.next();
    if (luck < 0.03 || stream.link.isDead) return this.failStream(stream, luck < 0.01);
    if (luck < 0.3) this.deliver(stream);
    if (luck < 0.06) this.change(stream.key);
    if (luck < 0.06) this.deliver(stream);
    if (luck > 0.28 && luck < 0.3) this.finish(stream);
  }

  #stop(stream: SimStream): void {
    const context = this.#context;
    context.activity += 1;
    if (stream.isStopped) return;
    stream.isStopped = true;
    if (stream.isOver) return;
    context.trace?.push(`  stop ${stream.key.name}`);
    this.#closeStream(stream);
    this.keep(stream);
    context.meddle(0.08);
  }

  #closeStream(stream: SimStream): void {
    remove(this.streams, stream);
    if (stream.key.open === stream) stream.key.open = undefined;
  }

  /** Another value, where it has not ended. */
  change(key: SimKey): void {
    if (key.overOn !== undefined && key.isFinished && key.overOn.isPresent) return;
    key.version += 1;
    this.#context.trace?.push(`  ${key.name} becomes ${key.version}`);
  }

  /** Tells the snapshot, and after it the newest value. */
  deliver(stream: SimStream): void {
    if (stream.isOver || stream.isStopped) return;
    const expectation = toExpectation(this.#context.clock, stream);
    stream.sent = stream.sent === 0 ? stream.snapshot : stream.key.version;
    this.#context.trace?.push(`  ${stream.key.name} tells ${stream.sent}`);
    stream.events.value(stream.key.valueOf(stream.sent));
    const broken = expectation?.();
    if (broken !== undefined) this.#context.fail("I7", broken);
  }

  /** Its last value was told, and there is no more to come. */
  finish(stream: SimStream): void {
    this.deliver(stream);
    while (!stream.isOver && !stream.isStopped && stream.sent < stream.key.version) this.deliver(stream);
    if (stream.isOver || stream.isStopped) return;
    this.#context.fault("stream ended");
    this.#endStream(stream);
    this.#markOver(stream, true);
    stream.events.ended();
  }

  failStream(stream: SimStream, lasting: boolean): void {
    if (stream.isOver || stream.isStopped) return;
    this.#context.fault(lasting ? "stream failed for good" : "stream failed");
    this.#endStream(stream);
    if (lasting) this.#markOver(stream, false);
    stream.events.failed(lasting);
  }

  #markOver(stream: SimStream, isFinished: boolean): void {
    // Its watchers may have left while it was being opened, and others have come, with a stream of theirs.
    if (stream.key.pairs.length === 0 || stream.key.newest !== stream) return;
    stream.key.overOn = stream.link;
    stream.key.isFinished = isFinished;
  }

  #endStream(stream: SimStream): void {
    stream.isOver = true;
    this.#closeStream(stream);
    this.keep(stream);
  }

  /** Answers; what changes something does so now. */
  answer(sending: SimSending): void {
    const { request } = sending;
    this.#retire(sending);
    if (request.kind === "mutation") this.apply(sending);
    const { key } = request;
    sending.isTold = true;
    sending.reply.answered({ request: request.id, principal: key.principal, version: key.version });
  }

  refuseSending(sending: SimSending): void {
    this.#context.fault("request refused");
    this.#retire(sending);
    sending.isTold = true;
    sending.reply.refused("no");
  }

  /** Its link has failed under it, before or after it was written. */
  lose(sending: SimSending, sent: boolean): void {
    this.#context.fault(sent ? "request lost" : "request not sent");
    this.#retire(sending);
    sending.link.isDead = true;
    if (sent && sending.request.kind === "mutation" && this.#context.chance.hits(0.5)) this.apply(sending);
    sending.isTold = true;
    sending.reply.lost(sent);
  }

  apply(sending: SimSending): void {
    sending.request.applied += 1;
    this.change(sending.request.key);
  }

  #retire(sending: SimSending): void {
    sending.isOver = true;
    remove(this.sendings, sending);
    this.keep(sending);
  }

  /** Keeps what may yet be heard of: as much as is worth it. */
  keep(item: Stale): void {
    if (this.stale.length < keptStale) this.stale.push(item);
    else this.stale[this.#context.chance.below(keptStale)] = item;
  }
}

function remove<T>(list: T[], item: T): void {
  const at = list.indexOf(item);
  if (at >= 0) list.splice(at, 1);
}
