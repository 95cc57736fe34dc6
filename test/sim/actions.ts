import { SimAttempt, SimLink } from "./sim-link.ts";
import { SimSending } from "./sim-request.ts";
import type { Stale } from "./far-side.ts";
import type { World } from "./world.ts";

const hourMs = 3_600_000;
/** No number of hours, so that the clock cannot be set back by as much. */
const sleepMs = 2_800_000;

type Action = (world: World) => void;

function subscribe({ context, clients, keys }: World): void {
  const key = context.chance.pick(keys);
  if (key !== undefined && clients.pairs.length < 8) clients.subscribe(key);
}

function unsubscribe({ context, clients }: World): void {
  const pair = context.chance.pick(clients.pairs);
  if (pair !== undefined) clients.unsubscribe(pair);
}

function burst(world: World): void {
  for (let count = world.context.chance.below(4); count >= 0; count -= 1) subscribe(world);
  for (let count = world.context.chance.below(6); count > 0; count -= 1) unsubscribe(world);
}

function leaveAll(world: World): void {
  const { clients } = world;
  for (const pair of [...clients.pairs]) clients.unsubscribe(pair);
  for (const request of [...clients.requests]) if (request.reader?.isEnded !== false) clients.cancel(request);
}

function ask(world: World, kind: "read" | "mutation"): void {
  const { context, clients, keys } = world;
  const key = context.chance.pick(keys);
  if (key !== undefined && clients.requests.length < 10) clients.request(kind, key);
}

function cancel({ context, clients }: World): void {
  const request = context.chance.pick(clients.requests);
  // A pair that was told to read does read.
  if (request !== undefined && request.reader === undefined) clients.cancel(request);
}

function change({ context, far, keys }: World): void {
  const key = context.chance.pick(keys);
  if (key !== undefined) far.change(key);
}

/** Tells what is new on a stream, and only at times what it has told before. */
function speak({ context, far }: World): void {
  const stream = context.chance.pick(far.streams);
  if (stream === undefined) return;
  if (stream.sent !== stream.key.version || context.strikes(0.1)) far.deliver(stream);
}

/** Tells more changes of one stream than a burst of notifications has. */
function flurry({ context, far }: World): void {
  const stream = context.chance.pick(far.streams);
  if (stream === undefined) return;
  for (let count = 0; count < 6 && far.streams.includes(stream); count += 1) {
    far.change(stream.key);
    far.deliver(stream);
  }
}

function endStream({ context, far }: World): void {
  const stream = context.chance.pick(far.streams);
  if (stream === undefined) return;
  if (context.chance.hits(0.4)) far.finish(stream);
  else far.failStream(stream, context.chance.hits(0.2));
}

function answer({ context, far }: World): void {
  const sending = context.chance.pick(far.sendings);
  if (sending === undefined) return;
  const luck = context.chance.next();
  if (luck < 0.85) far.answer(sending);
  else if (luck < 0.9 && sending.request.reader === undefined) far.refuseSending(sending);
  else far.lose(sending, context.chance.hits(0.7));
}

function dialled({ context, far }: World): void {
  const [attempt] = far.attempts;
  if (attempt === undefined) return;
  const luck = context.chance.next();
  if (luck < 0.65) far.open(attempt);
  else if (luck < 0.85) far.refuse(attempt);
  else far.dropDial(attempt);
}

function breakLink({ context, far }: World): void {
  const link = context.chance.pick(far.links);
  if (link === undefined) return;
  const luck = context.chance.next();
  if (link.isDead || luck < 0.4) far.end(link);
  else if (luck < 0.7 && !link.isLeaving) far.announce(link);
  else link.isDead = true;
}

/** Told of what is over: nothing may come of it. */
function tellStale({ context, far }: World): void {
  const item = context.chance.pick(far.stale);
  if (item === undefined) return;
  const before = context.activity;
  context.fault("stale event");
  if (item instanceof SimAttempt && context.chance.hits(0.5)) return far.open(item);
  tellLate(item, context.chance.next());
  if (context.activity !== before) context.fail("I3", "something comes of an event that is too late");
}

function tellLate(item: Stale, luck: number): void {
  if (item instanceof SimAttempt) {
    if (luck < 0.7) item.events.failed("late");
    else item.events.ended("late");
  } else if (item instanceof SimLink) {
    if (luck < 0.5) item.attempt.events.ended("late");
    else item.attempt.events.leaving();
  } else if (item instanceof SimSending) {
    if (luck < 0.6) item.reply.answered({ request: item.request.id, principal: -1, version: -1 });
    else if (luck < 0.7) item.reply.refused("late");
    else item.reply.lost(luck < 0.9);
  } else if (luck < 0.6) item.events.value(item.key.valueOf(-1));
  else if (luck < 0.8) item.events.ended();
  else item.events.failed(luck < 0.9);
}

/** Fires one of the timers that are due, or nearly. */
function fire({ context }: World, earlyMs: number): void {
  const timer = context.chance.pick(context.clock.due(earlyMs));
  if (timer !== undefined) context.clock.fire(timer);
}

function pass(world: World): void {
  const { context } = world;
  const { clock, chance } = context;
  const earlyMs = context.strikes(0.3) ? 1 : 0;
  const next = clock.next();
  const untilNext = next === undefined ? 10 : Math.max(0, next.due - clock.elapsed - earlyMs);
  // To the next timer, at times a little further, so that several are due at once and some are late.
  clock.elapsed += chance.hits(0.5) ? Math.min(untilNext, 5000) : chance.below(60);
  fire(world, earlyMs);
}

/** A long time, in which everything fires that is due. */
function sleep({ context }: World): void {
  const { clock, chance } = context;
  const until = clock.elapsed + chance.below(12_000);
  for (let next = clock.next(); next !== undefined && next.due <= until; next = clock.next()) {
    clock.elapsed = Math.max(clock.elapsed, next.due);
    clock.fire(next);
  }
  clock.elapsed = until;
}

function jump({ context }: World): void {
  const { clock, chance } = context;
  context.fault("clock jump");
  const luck = chance.next();
  if (luck < 0.7) clock.jump(luck < 0.35 ? hourMs : -hourMs);
  // The machine slept: the time has passed, and no timer has fired.
  else clock.sleep(sleepMs);
}

function close({ context, clients }: World): void {
  if (context.chance.hits(0.05)) clients.close();
}

/** What may happen in one step, and how likely it is against the others. */
const actions: readonly (readonly [name: string, weight: number, action: Action])[] = [
  ["subscribe", 9, subscribe],
  ["unsubscribe", 6, unsubscribe],
  ["burst", 2, burst],
  ["leave all", 2, leaveAll],
  ["read", 5, (world) => ask(world, "read")],
  ["mutate", 6, (world) => ask(world, "mutation")],
  ["cancel", 4, cancel],
  ["change", 10, change],
  ["speak", 14, speak],
  ["flurry", 3, flurry],
  ["end a stream", 2, endStream],
  ["answer", 12, answer],
  ["dialled", 10, dialled],
  ["break a link", 4, breakLink],
  ["too late", 6, tellStale],
  ["fire", 8, (world) => fire(world, 0)],
  ["pass", 12, pass],
  ["sleep", 1, sleep],
  ["jump", 1, jump],
  ["close", 1, close],
];

const table: readonly (readonly [name: string, action: Action])[] = actions.flatMap(([name, weight, action]) =>
  Array.from({ length: weight }, () => [name, action] as const),
);

/** Does one thing at random. */
export function act(world: World): void {
  const { context } = world;
  const [name, action] = context.chance.pick(table) ?? ["pass", pass];
  context.trace?.push(name);
  action(world);
}

const meddling: readonly Action[] = [
  subscribe,
  subscribe,
  unsubscribe,
  unsubscribe,
  leaveAll,
  (world) => ask(world, "read"),
  (world) => ask(world, "mutation"),
  (world) => ask(world, "mutation"),
  cancel,
  cancel,
];

/** What somebody who is called does from within: what a client may do at any time. */
export function meddle(world: World): void {
  const action = world.context.chance.pick(meddling);
  action?.(world);
}
