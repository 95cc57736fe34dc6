import type { SimKey } from "./sim-key.ts";
import type { SimLink } from "./sim-link.ts";
import type { World } from "./world.ts";

/** What timers may be late by within one step, which no check sees. */
const graceMs = 64;

/** Everything that must hold after every single step. */
export function check(world: World): void {
  const { context, clients } = world;
  if (context.violation !== undefined) return;
  checkBounds(world);
  if (clients.isClosed) return checkNothing(world, "after close()");
  checkStreams(world);
  if (clients.pairs.length === 0) checkUnwatched(world);
  if (clients.isIdle) checkIdle(world);
  else checkUnderWay(world);
  if (context.clock.isLate()) return forgiveNotices(world);
  checkNotices(world);
  checkPatience(world);
}

/** I2, I10: one link, one bit a pair, one timer a purpose. */
function checkBounds({ context, far, clients, keys, subscriptions }: World): void {
  const watched = keys.filter((key) => key.pairs.length > 0).length;
  const present = far.links.filter((link) => link.isPresent).length;
  if (far.attempts.length + present > 1) context.fail("I2", "two links are dialled or live");
  if (!clients.isClosed && subscriptions.size !== watched)
    context.fail("I10", `${subscriptions.size} watches for ${watched} keys`);
  const { clock } = context;
  if (clock.count("holder") > 2) context.fail("I10", "more than two timers look after the link");
  if (clock.count("watch") > 2 * watched) context.fail("I10", "more than two timers look after a watch");
  if (clock.count("request") > clients.requests.length) context.fail("I10", "a timer of a request is left");
}

/** I4: the open streams are those of the keys that are watched, as far as there is a link. */
function checkStreams(world: World): void {
  const { context, far, keys } = world;
  const { present } = far;
  let lacking = 0;
  for (const key of keys) {
    if (key.open !== undefined && key.pairs.length === 0) context.fail("I5", `a stream of ${key.name} is left`);
    if (key.open !== undefined && key.open.link !== present) context.fail("I4", `${key.name} is open on a former link`);
    if (isLacking(key, present)) lacking += 1;
    checkLatest(world, key);
  }
  const retries = context.clock.timers.filter((timer) => timer.lane === "watch" && timer.delayMs > 40).length;
  if (retries !== lacking) context.fail("I4", `${lacking} streams are lacking, and ${retries} are to be opened again`);
}

function isLacking(key: SimKey, present: SimLink | undefined): boolean {
  return present !== undefined && key.pairs.length > 0 && key.overOn !== present && key.open === undefined;
}

/** I3: what is answered without a round trip is what an open stream told last. */
function checkLatest({ context, far, subscriptions }: World, key: SimKey): void {
  const latest = subscriptions.latest(key.name);
  if (latest === undefined) return;
  const isFinished = key.isFinished && key.overOn !== undefined && key.overOn === far.present;
  if (latest.value.key !== key.name) context.fail("I14", `${key.name} holds the value of ${latest.value.key}`);
  if (key.open === undefined && !isFinished) context.fail("I3", `${key.name} holds a value that nothing keeps new`);
  const told = key.open?.sent ?? latest.value.version;
  if (told !== latest.value.version)
    context.fail("I3", `${key.name} holds ${latest.value.version} and was told ${told}`);
}

function checkUnwatched({ context, far }: World): void {
  if (far.streams.length > 0) context.fail("I5", "a stream is left that nobody watches");
  if (context.clock.count("watch") > 0) context.fail("I5", "a timer is left of what nobody watches");
}

/** I5: nobody uses anything. */
function checkIdle(world: World): void {
  const { context, far, clients, idleMs } = world;
  const { clock } = context;
  if (far.attempts.length > 0) context.fail("I5", "a dial is left that nobody wants");
  if (clock.timers.length > (far.present === undefined ? 0 : 1))
    context.fail("I5", "a timer is left that nobody wants");
  if (far.links.some((link) => link.isLeaving)) context.fail("I5", "a link that leaves is kept for nobody");
  if (far.present === undefined) return;
  if (idleMs === 0) context.fail("I5", "a link is left that nobody uses");
  else if (clock.timers.length === 0) context.fail("I5", "nothing will close the link that nobody uses");
  const idleFor = clock.elapsed - Math.max(clients.lastUse, clock.lastJump);
  if (idleFor > 2 * idleMs + graceMs && !clock.isLate()) context.fail("I5", `a link is kept idle for ${idleFor} ms`);
}

/** I8: whoever needs a link has one, or one is under way. */
function checkUnderWay({ context, far, clients }: World): void {
  const isWanted = clients.pairs.length > 0 || clients.requests.some((request) => request.waitingSince !== undefined);
  if (!isWanted || far.attempts.length > 0 || far.present !== undefined) return;
  const isWaiting = clients.pairs.length > 0 || clients.requests.some(isUnsent);
  if (isWaiting && context.clock.count("holder") === 0)
    context.fail("I8", "somebody waits for a link that nobody dials");
}

function isUnsent({ sending }: { readonly sending: { readonly isOver: boolean } | undefined }): boolean {
  return sending === undefined || sending.isOver;
}

/** What waits for a timer that is late is not counted as having waited. */
function forgiveNotices({ clients }: World): void {
  for (const pair of clients.pairs) pair.dirtySince = undefined;
}

/** I7: what has changed is told when the window ends. */
function checkNotices({ context, clients }: World): void {
  const { clock } = context;
  for (const pair of clients.pairs) {
    if (pair.subscription === undefined || pair.subscription.version === pair.seen) {
      pair.dirtySince = undefined;
      continue;
    }
    pair.dirtySince ??= clock.elapsed;
    // Each time that the clock is set back costs one more window.
    const waited = clock.elapsed - Math.max(pair.dirtySince, clock.lastJump);
    if (waited > 2 * pair.key.windowMs + graceMs) context.fail("I7", `pair ${pair.id} was not told for ${waited} ms`);
  }
}

/** I11: nobody waits for a link longer than they said. */
function checkPatience({ context, clients }: World): void {
  for (const request of clients.requests) {
    if (request.kind === "mutation" || request.waitingSince === undefined || !isUnsent(request)) continue;
    const waited = context.clock.elapsed - request.waitingSince;
    if (waited > request.patienceMs + graceMs) context.fail("I11", `request ${request.id} has waited for ${waited} ms`);
  }
}

/** Everything is over: nothing is left, and nobody waits. */
export function checkNothing({ context, far, clients }: World, when: string): void {
  const { timers } = context.clock;
  if (timers.length > 0) context.fail("I5", `${timers.length} timers are left ${when}`);
  if (far.streams.length > 0) context.fail("I5", `${far.streams.length} streams are left ${when}`);
  if (far.attempts.length > 0) context.fail("I5", `a dial is left ${when}`);
  if (far.links.length > 0) context.fail("I5", `${far.links.length} links are left ${when}`);
  if (clients.requests.length > 0) context.fail("I11", `${clients.requests.length} requests are left ${when}`);
}
