import { check, checkNothing } from "./checks.ts";
import type { SimKey } from "./sim-key.ts";
import type { World } from "./world.ts";

/** More rounds than this, and nothing will ever come to rest. */
const maxRounds = 300;

/** Lets everything come to rest, each step checked. */
export function settle(world: World): void {
  const { context } = world;
  for (let rounds = 0; context.violation === undefined && settleOne(world); rounds += 1) {
    check(world);
    if (rounds > maxRounds) return context.fail("I8", "nothing comes to rest");
  }
}

/** Lets everything come to rest, without faults and without changes, and checks that nothing was lost on the way. */
export function quiesce(world: World): void {
  const { context, clients } = world;
  context.isCalm = true;
  context.trace?.push("calm");
  settle(world);
  if (context.violation === undefined && !clients.isClosed) checkSettled(world);
}

function checkSettled(world: World): void {
  const { context, clients } = world;
  if (clients.requests.length > 0) context.fail("I11", `${clients.requests.length} requests are never answered`);
  checkStreamsSettled(world);
  for (const pair of clients.pairs) {
    const { key } = pair;
    if (isLasting(world, key) || pair.knows === key.version) continue;
    context.fail("I6", `pair ${pair.id} of ${key.name} holds ${pair.knows}, and the last is ${key.version}`);
  }
}

/** The next thing that would happen by itself; `false` where nothing would. */
function settleOne({ context, far, clients }: World): boolean {
  const broken = far.links.find((link) => link.isDead || link.isLeaving);
  if (broken !== undefined) far.end(broken);
  else if (far.attempts[0] !== undefined) far.open(far.attempts[0]);
  else if (far.sendings[0] !== undefined) far.answer(far.sendings[0]);
  else {
    const behind = far.streams.find((stream) => stream.sent !== stream.key.version);
    if (behind !== undefined) far.deliver(behind);
    else return pass(context, clients.isIdle);
  }
  return true;
}

/** Time passes until the last timer has fired; not the one that closes what nobody uses. */
function pass({ clock }: World["context"], isIdle: boolean): boolean {
  const next = clock.next();
  if (next === undefined || isIdle) return false;
  clock.elapsed = Math.max(clock.elapsed, next.due);
  clock.fire(next);
  return true;
}

function isLasting({ far }: World, key: SimKey): boolean {
  return key.overOn !== undefined && key.overOn === far.present && !key.isFinished;
}

function checkStreamsSettled({ context, far, keys }: World): void {
  for (const key of keys) {
    const isDue = key.pairs.length > 0 && (key.overOn === undefined || key.overOn !== far.present);
    if (isDue !== (key.open !== undefined)) {
      context.fail("I4", `a stream of ${key.name} ${isDue ? "is lacking" : "is left"} when everything has settled`);
    }
  }
}

/** Ends everything, one by one or at once, and checks that nothing is left. */
export function finish(world: World): void {
  const { context, clients, far } = world;
  context.trace?.push("the end");
  if (context.chance.hits(0.3)) clients.close();
  for (const pair of [...clients.pairs]) {
    clients.unsubscribe(pair);
    check(world);
  }
  for (const request of [...clients.requests]) clients.cancel(request);
  check(world);
  const { clock } = context;
  for (let next = clock.next(), count = 0; next !== undefined && count < 8; next = clock.next(), count += 1) {
    clock.elapsed = Math.max(clock.elapsed, next.due);
    clock.fire(next);
  }
  if (far.present !== undefined) context.fail("I5", "the link is left at the end");
  checkNothing(world, "at the end");
}
