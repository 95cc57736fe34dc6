import type { SimClock } from "./sim-clock.ts";
import type { SimStream } from "./sim-stream.ts";

/** A link that comes sooner than this is no reason to take its snapshot for news. */
const promptMs = 1000;

/** Says what is wrong, once the stream has spoken. */
type Expectation = () => string | undefined;

/** What must come of the next value of a stream, where that is certain: no notice of a snapshot, or one at once. */
export function toExpectation(clock: SimClock, stream: SimStream): Expectation | undefined {
  if (stream.key.newest !== stream) return undefined;
  if (stream.sent === 0) return isNoNews(clock, stream) ? expectNothing(stream) : undefined;
  return isQuiet(clock, stream) ? expectNotice(stream) : undefined;
}

function isNoNews(clock: SimClock, { key, link }: SimStream): boolean {
  const isPrompt = clock.elapsed - key.watchedSince < promptMs && clock.lastJump < key.watchedSince;
  return isPrompt && link.id === key.firstLink && key.streams === 1;
}

function expectNothing({ key }: SimStream): Expectation {
  const before = key.notices;
  return () => (key.notices === before ? undefined : `the snapshot of ${key.name} is announced`);
}

/** A timer that has fired may have taken the token that had just come. */
function isQuiet(clock: SimClock, { key }: SimStream): boolean {
  const isUndisturbed = clock.lastJump === Number.NEGATIVE_INFINITY || clock.lastJump < key.lastNotice;
  const hasToken = key.bucket.tokens(clock.elapsed, key.windowMs) >= 1;
  const isPending = clock.count("watch") > 0 || clock.elapsed - clock.lastWatchTimer < key.windowMs;
  return isUndisturbed && hasToken && !isPending;
}

function expectNotice({ key }: SimStream): Expectation {
  const told = key.pairs.filter((pair) => pair.subscription !== undefined).map((pair) => [pair, pair.notices] as const);
  return () => {
    const left = told.find(([pair, notices]) => !pair.isEnded && pair.notices === notices);
    return left === undefined ? undefined : `pair ${left[0].id} is not told at once, after quiet`;
  };
}
