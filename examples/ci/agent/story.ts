import { z } from "zod";

import { PHASES } from "./phases.ts";

const Tally = z.object({ before: z.number(), during: z.number(), after: z.number() });

const Testimony = z.object({
  reads: Tally,
  failures: z.array(z.string()).readonly(),
  slowestMs: z.number(),
  observed: z.array(z.object({ uri: z.string(), notices: Tally, lastAnnounced: z.boolean() })).readonly(),
});

const Outcome = z.object({
  verdict: z.enum(["green", "red"]),
  failed: z.array(z.string()).readonly(),
  held: z.array(z.string()).readonly(),
});

/** What the agent's process says to the one that started it. */
export const AgentMessage = z.discriminatedUnion("kind", [
  /** Something to print: one process alone writes to a terminal. */
  z.object({
    kind: z.literal("print"),
    as: z.enum(["step", "details", "headline", "waiting"]),
    text: z.string(),
    lines: z.array(z.string()).readonly(),
  }),
  /** Its face is up. */
  z.object({ kind: z.literal("face"), pid: z.number() }),
  /** Whether it waits for a verdict now, and nothing that changes anything is under way. */
  z.object({ kind: z.literal("idle"), idle: z.boolean() }),
  /** It has looked at a log while nobody else could be asked. */
  z.object({ kind: z.literal("looked") }),
  z.object({ kind: z.literal("ended"), outcome: Outcome, testimony: Testimony }),
  z.object({ kind: z.literal("failed"), reason: z.string() }),
]);

/** One of {@link AgentMessage}. */
export type AgentMessage = z.input<typeof AgentMessage>;

/** What the agent's process is told while it works. */
export const StoryMessage = z.object({ phase: z.enum(PHASES) });
