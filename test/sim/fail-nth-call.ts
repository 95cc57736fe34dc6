import { check } from "./checks.ts";
import type { Violation } from "./context.ts";
import { finish, quiesce, settle } from "./quiesce.ts";
import { type Profile, World } from "./world.ts";

/** How late a timer is that goes wrong. */
const latenessMs = 50;

type Operation = (world: World) => void;

/** What a scenario is made of. `a` and `b` are keys; what is ended or cancelled is the oldest there is. */
const operations = {
  "watch a": ({ clients, keys }) => keys[0] && clients.subscribe(keys[0]),
  "watch b": ({ clients, keys }) => keys[1] && clients.subscribe(keys[1]),
  unwatch: ({ clients }) => clients.pairs[0] && clients.unsubscribe(clients.pairs[0]),
  "read a": ({ clients, keys }) => keys[0] && clients.request("read", keys[0]),
  "mutate a": ({ clients, keys }) => keys[0] && clients.request("mutation", keys[0]),
  cancel: ({ clients }) => clients.requests[0] && clients.cancel(clients.requests[0]),
  "change a": ({ far, keys }) => keys[0] && far.change(keys[0]),
  "change b": ({ far, keys }) => keys[1] && far.change(keys[1]),
  open: ({ far }) => far.attempts[0] && far.open(far.attempts[0]),
  refuse: ({ far }) => far.attempts[0] && far.refuse(far.attempts[0]),
  answer: ({ far }) => far.sendings[0] && far.answer(far.sendings[0]),
  speak: ({ far }) => far.streams[0] && far.deliver(far.streams[0]),
  finish: ({ far }) => far.streams[0] && far.finish(far.streams[0]),
  fail: ({ far }) => far.streams[0] && far.failStream(far.streams[0], false),
  leave: ({ far }) => far.present && far.announce(far.present),
  end: ({ far }) => far.links[0] && far.end(far.links[0]),
  close: ({ clients }) => clients.close(),
  settle: settle,
} satisfies Record<string, Operation>;

/** One step of a scenario. */
export type OperationName = keyof typeof operations;

/** How to run a scenario. */
export interface FailurePlan {
  readonly profile: Profile;
  /** Which call of a port goes wrong; 0: none. */
  readonly failAt: number;
  /** Decides how it goes wrong, where that can be in several ways. */
  readonly seed: number;
}

/** Runs a scenario, one call of a port going wrong; says what was broken, and how many calls there were. */
export function runScenario(
  steps: readonly OperationName[],
  { profile, failAt, seed }: FailurePlan,
): { readonly violation: Violation | undefined; readonly calls: number } {
  const world = new World(profile);
  const { context } = world;
  context.isCalm = true;
  context.failAt = failAt;
  context.clock.delay(() => (context.isFailing() ? latenessMs : 0));
  context.chance.reseed(seed, failAt);
  for (const step of steps) {
    operations[step](world);
    check(world);
  }
  if (context.violation === undefined) quiesce(world);
  if (context.violation === undefined) finish(world);
  return { violation: context.violation, calls: context.calls };
}
