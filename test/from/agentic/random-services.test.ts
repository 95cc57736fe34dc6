import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { act, readState, settled, show, stage, state, type Shown, type Staged } from "./support.ts";

const count = 4;
const at = fc.nat(count - 1);
const keys = fc.subarray(["a", "b", "c"]);
const step = fc.oneof(
  fc.record({ kind: fc.constant("actions" as const), at, keys }),
  fc.record({ kind: fc.constant("states" as const), at, keys, value: fc.nat(2) }),
  fc.record({ kind: fc.constant("links" as const), at, to: fc.dictionary(fc.constantFrom("x", "y"), at) }),
  // All that came before it is done.
  fc.record({ kind: fc.constant("turn" as const) }),
);
type Step = typeof step extends fc.Arbitrary<infer TStep> ? TStep : never;

function mapOf<TValue>(names: readonly string[], make: () => TValue): Record<string, TValue> {
  return Object.fromEntries(names.map((name) => [name, make()]));
}

function take(services: readonly Staged[], said: Exclude<Step, { kind: "turn" }>): void {
  const one = services[said.at];
  if (said.kind === "actions") one?.actions.tell(mapOf(said.keys, act));
  else if (said.kind === "states") one?.states.tell(mapOf(said.keys, () => state(said.value)));
  else {
    const links = Object.entries(said.to).flatMap(([key, to]) => {
      const service = services[to]?.service;
      return service === undefined ? [] : [[key, service] as const];
    });
    one?.links.tell(Object.fromEntries(links));
  }
}

/** What is there, told from scratch: names, paths with values, and which services are reached. */
function expectedOf(services: readonly Staged[]) {
  const found = { names: [] as string[], states: {} as Record<string, unknown>, reached: new Set<Staged>() };
  const visit = (one: Staged, way: readonly Staged[], path: readonly string[]): void => {
    found.reached.add(one);
    for (const key of Object.keys(one.actions.value ?? {})) found.names.push([...path, key].join("."));
    for (const [key, { value }] of Object.entries(one.states.value ?? {})) {
      found.states[[...path, "state", key].join("/")] = value;
    }
    for (const [key, target] of Object.entries(one.links.value ?? {})) {
      const next = services.find(({ service }) => service === target);
      if (next !== undefined && !way.includes(next)) visit(next, [...way, next], [...path, key]);
    }
  };
  const [root] = services;
  if (root !== undefined) visit(root, [root], []);
  return found;
}

/** How often each part is observed. */
function observedOf({ actions, states, links }: Staged): readonly number[] {
  return [actions, states, links].map(({ opened, ended }) => opened - ended);
}

function assertShown(shown: Shown, services: readonly Staged[]): void {
  const { names, states, reached } = expectedOf(services);
  expect(shown.names().toSorted()).toEqual(names.toSorted());
  expect(shown.paths().toSorted()).toEqual(Object.keys(states).toSorted());
  for (const [path, value] of Object.entries(states)) {
    // It does not look at its context.
    expect(readState(shown, path)).toBe(value);
  }
  for (const each of services) {
    const observed = reached.has(each) ? 1 : 0;
    expect(observedOf(each)).toEqual([observed, observed, observed]);
  }
}

/**
 * How often the listener may have been called by the end of a step: once a turn where anything is another, and never where
 * all is as it was. What was read as gone, and came back within the turn, may count as another.
 */
function allowedChanges(isTurn: boolean, isOther: boolean, wasOther: boolean): readonly number[] {
  if (!isTurn) return [0];
  if (isOther) return [1];
  return wasOther ? [0, 1] : [0];
}

async function play(steps: readonly Step[]): Promise<void> {
  const services = Array.from({ length: count }, () => stage({ links: {} }));
  const [root] = services;
  if (root === undefined) return;
  const shown = show(root.service, { links: true, states: "resource" });
  const look = () => ({
    lists: JSON.stringify([shown.names().toSorted(), shown.paths().toSorted()]),
    changes: shown.changes(),
  });
  let before = look();
  let wasOther = false;
  for (const one of steps) {
    if (one.kind === "turn") await settled();
    else take(services, one);
    const now = look();
    const isTurn = one.kind === "turn";
    const isOther = now.lists !== before.lists;
    expect(allowedChanges(isTurn, isOther, wasOther)).toContain(now.changes - before.changes);
    wasOther = !isTurn && (wasOther || isOther);
    if (isTurn) before = now;
    assertShown(shown, services);
  }
  expect(shown.faults).toEqual([]);
  shown.stop();
  for (const each of services) expect(observedOf(each)).toEqual([0, 0, 0]);
}

describe("services that change at random", () => {
  it("are shown as they are, observed while they are reached, and announced once a turn", async () => {
    await fc.assert(fc.asyncProperty(fc.array(step, { maxLength: 20 }), play), { numRuns: 150 });
  });
});
