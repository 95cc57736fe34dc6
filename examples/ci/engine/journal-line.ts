import { z } from "zod";

import { LogTail, NodeState, Verdict } from "../pipeline-schemas.ts";

const Repair = z.object({ node: z.string(), file: z.string(), line: z.number(), from: z.string(), to: z.string() });

/** One line of a journal: what an engine did, and what happened around it. */
export const JournalLine = z.discriminatedUnion("kind", [
  /** A process began to write. `pipeline` tells one pipeline from another. */
  z.object({ kind: z.literal("opened"), pid: z.number(), at: z.number(), pipeline: z.string() }),
  z.object({
    kind: z.literal("begun"),
    run: z.number(),
    strict: z.boolean(),
    at: z.number(),
    states: z.array(NodeState),
  }),
  z.object({ kind: z.literal("states"), states: z.array(NodeState) }),
  z.object({ kind: z.literal("command"), node: z.string(), group: z.number(), born: z.string().optional() }),
  z.object({ kind: z.literal("log"), log: LogTail }),
  z.object({ kind: z.literal("verdict"), verdict: Verdict }),
  z.object({ kind: z.literal("configured"), parallel: z.number().int().min(1) }),
  z.object({ kind: z.literal("repaired"), repair: Repair }),
]);

/** A line as it is read back. */
export type JournalLine = z.output<typeof JournalLine>;
