import { ReconnectingSurface } from "../../src/links/reconnecting-surface.ts";
import * as z from "zod";
import { cell, collection, event, procedure, stream } from "../../src/surface/define-members.ts";
import { defineSurface } from "../../src/surface/define-surface.ts";
import { readOnly } from "../../src/tags/read-only.ts";
import { operationsOf, type Uses } from "../surface/uses-of.ts";
import { settle } from "../surface/support.ts";
import { ManualClock } from "./manual-clock.ts";
import { ScriptedLink, type ScriptedConnection } from "./scripted-link.ts";

/** One member of every kind. */
export const surface = defineSurface("s", {
  value: cell({ schema: z.number() }),
  items: collection({ key: z.string(), schema: z.number() }),
  frames: stream({ output: z.number() }),
  rang: event({ output: z.number() }),
  run: procedure({ output: z.number() }),
  look: readOnly(procedure({ output: z.number() })),
});

/** How long a connection that nobody uses is kept. */
export const idleMs = 30_000;

/** A connection that broke. */
export const lost = { kind: "lost" } as const;

export interface Opened {
  readonly link: ScriptedLink;
  readonly clock: ManualClock;
  /** What was said of why it cannot be reached. */
  readonly unreachable: readonly unknown[];
  readonly held: ReconnectingSurface;
  readonly channel: Uses;
}

const opened: ReconnectingSurface[] = [];

/** A held surface over a link whose far side is the test, in a time that the test lets pass. */
export function open(answer: ScriptedLink["answer"] = "accept", idle: number = idleMs): Opened {
  const link = new ScriptedLink();
  link.answer = answer;
  const clock = new ManualClock();
  const unreachable: unknown[] = [];
  const onUnreachable = (cause: unknown): void => void unreachable.push(cause);
  const held = new ReconnectingSurface({ link, surface, clock, random: () => 0, idleMs: idle, onUnreachable });
  opened.push(held);
  return { link, clock, unreachable, held, channel: operationsOf(held.channel) };
}

/** Closes what was opened. */
export async function closeAll(): Promise<void> {
  await Promise.all(opened.splice(0).map((held) => held.close()));
  // A rejection that nobody has handled by then fails the run.
  await settle();
}

/** Opens a connection, and leaves it in nobody's use. */
export async function connect({ link, channel }: Opened): Promise<ScriptedConnection> {
  const first = channel.get("value", {});
  await settle();
  link.last.asked.at(-1)?.answer(0);
  await first;
  return link.last;
}

/** What a promise came to, by the time that this is looked at. */
export function outcomeOf(promise: Promise<unknown>): { value?: unknown; cause?: unknown } {
  const outcome: { value?: unknown; cause?: unknown } = {};
  promise.then(
    (value) => (outcome.value = value),
    (cause: unknown) => (outcome.cause = cause),
  );
  return outcome;
}
