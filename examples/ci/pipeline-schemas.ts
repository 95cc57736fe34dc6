import { z } from "zod";

/** Names one node of the pipeline. */
export const NodeId = z.object({ node: z.string().describe("The id of a node") });

/** Where a node stands; the twin of the engine's own type. */
export const NodeState = z.object({
  id: z.string(),
  status: z.enum(["idle", "waiting", "running", "passed", "failed", "skipped", "cancelled", "interrupted"]),
  needs: z.array(z.string()).readonly().describe("Ids of the nodes that must have passed before this one starts"),
  startedAt: z.string().optional().describe("When the command of this attempt started, ISO 8601"),
  durationMs: z.number().optional().describe("How long the command of this attempt took"),
  exitCode: z.number().optional(),
  attempt: z.number().describe("1 from the start of a run, one more with each rerun; 0 before any run"),
  starts: z.number().describe("How often this run has started its command; an interrupted attempt is started again"),
});

/** The newest part of a node's log. */
export const LogTail = z.object({
  node: z.string(),
  text: z.string().describe("What the command wrote; lines that begin with [ci] are the engine's own"),
  truncated: z.boolean().describe("Whether the beginning has been cut off"),
  bytes: z.number().describe("UTF-8 bytes written in all"),
});

/** The run now, or the last one. */
export const RunState = z.object({
  run: z.number().describe("0 before the first"),
  active: z.boolean(),
  strict: z.boolean().describe("Whether nothing new starts once a node is red"),
});

/** Every node and where it stands, in the order of the pipeline's file, and the run that this is of: one moment's. */
export const Board = RunState.extend({ nodes: z.array(NodeState).readonly() });

/** How a run stands at its first red node, or has ended. */
export const Verdict = z.object({
  run: z.number(),
  number: z.number().describe("Counts the verdicts of the run, from 1"),
  verdict: z.enum(["green", "red"]).describe("green: settled, and every node has passed"),
  red: z.array(z.string()).readonly().describe("Ids of the failed nodes"),
  at: z.enum(["settled", "first-red"]).describe("first-red: others may still be running"),
  passed: z.number(),
  failed: z.number(),
  skipped: z.number(),
  cancelled: z.number(),
  durationMs: z.number().describe("Since the run started, or since its last rerun"),
});

/** One node in full. */
export const NodeDetail = NodeState.extend({
  command: z.array(z.string()).readonly(),
  dependents: z.array(z.string()).readonly().describe("Nodes that a rerun of this one runs again, too"),
});

/** What a rerun has queued. */
export const Rerun = z.object({ run: z.number(), nodes: z.array(z.string()).readonly() });

/** How runs are run. */
export const RunConfig = z.object({ parallel: z.number().int().min(1).max(32) });

/** How a run is started. */
export const RunStart = z.object({ strict: z.boolean() });

/** Which run was started. */
export const RunNumber = z.object({ run: z.number() });

/** One error of the TypeScript compiler, as an agent read it in a node's log. */
export const CompilerComplaint = z.object({
  node: z.string().describe("The node in whose log the error stands"),
  file: z.string(),
  line: z.number().int().min(1),
  column: z.number().int().min(1),
  code: z.string().describe("For example TS2551"),
  message: z.string().describe("The whole message, with its question at the end"),
});

/** What the tool `fix` has changed. */
export const Repaired = z.object({
  file: z.string(),
  line: z.number(),
  column: z.number(),
  from: z.string(),
  to: z.string(),
  before: z.string().describe("The whole line, as it was"),
  after: z.string(),
});
