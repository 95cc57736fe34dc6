import * as z from "zod";
import {
  defineSurface,
  mcp,
  mcpTool,
  operationRegistry,
  procedure,
  readOnly,
  Refusal,
  type Calls,
  type MountContext,
  type OperationRegistry,
  type ServableApp,
} from "../../../src/index.ts";

/** A hub of operations, and what a test may look into. */
export interface Hub {
  readonly app: ServableApp & { readonly calls: Calls };
  readonly operations: OperationRegistry;
  /** What has run, in its order. */
  readonly ran: string[];
  /** Who asked for it. */
  readonly askedBy: MountContext["caller"][];
  /** What has been told to stop. */
  readonly stopped: string[];
}

const task = z.object({ sessionId: z.string(), task: z.string(), branch: z.string().optional() });

/** Waits until it is told to stop, and tells. */
async function untilStopped(signal: AbortSignal, told: () => void): Promise<never> {
  await new Promise<void>((resolve) => {
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
  told();
  throw signal.reason;
}

function registerCoord(operations: OperationRegistry, { ran, askedBy }: Pick<Hub, "ran" | "askedBy">): void {
  operations.register(
    {
      name: "coord.spawn",
      description: "Spawns a session in a worktree of its own",
      tags: ["worktree"],
      inputSchema: task,
      outputSchema: z.object({ spawned: z.string(), branch: z.string() }),
      errorSchemas: { BUSY: z.object({ branch: z.string() }) },
      canCall: ["hub.git.worktreeCreate"],
    },
    async ({ sessionId, branch = "main" }, context) => {
      askedBy.push(context.caller);
      if (branch === "taken") throw new Refusal("BUSY", "the branch is taken", { branch });
      await context.call("hub.git.worktreeCreate", { branch });
      ran.push(`spawn ${sessionId}`);
      return { spawned: sessionId, branch };
    },
  );
  operations.register(
    {
      name: "coord.status",
      type: "query",
      description: "Says how spawned sessions are",
      inputSchema: z.object({ parentSessionId: z.string() }),
      outputSchema: z.object({ sessions: z.array(z.string()) }),
    },
    ({ parentSessionId }, { caller }) => {
      askedBy.push(caller);
      ran.push(`status ${parentSessionId}`);
      return { sessions: [`${parentSessionId}.1`] };
    },
  );
  operations.register(
    { name: "coord.message", description: "Sends a message to a session", inputSchema: z.object({ to: z.string() }) },
    ({ to }) => {
      ran.push(`message ${to}`);
      return { sent: true };
    },
  );
}

function registerWaiting(operations: OperationRegistry, { ran, stopped }: Pick<Hub, "ran" | "stopped">): void {
  operations.register(
    { name: "coord.wait", type: "query", description: "Waits for a session to end", canCall: ["hub.coord.idle"] },
    (_input, context) => {
      ran.push("wait");
      void context.call("hub.coord.idle").catch(() => undefined);
      return untilStopped(context.signal, () => stopped.push("wait"));
    },
  );
  operations.register({ name: "coord.idle", type: "query", visibility: "internal" }, (_input, { signal }) => {
    ran.push("idle");
    return untilStopped(signal, () => stopped.push("idle"));
  });
  operations.register({ name: "coord.watch", type: "subscription", description: "Tells of sessions" }, () => ({}));
}

function registerOthers(operations: OperationRegistry, { ran }: Pick<Hub, "ran">): void {
  operations.register(
    { name: "git.worktreeCreate", description: "Creates a worktree", inputSchema: z.object({ branch: z.string() }) },
    ({ branch }) => {
      ran.push(`worktree ${branch}`);
      return { path: `/trees/${branch}` };
    },
  );
  operations.register(
    { name: "git.push", description: "Pushes a branch", scopes: ["git:push"], inputSchema: z.object({}) },
    () => {
      ran.push("push");
      return { pushed: true };
    },
  );
  operations.register(
    {
      name: "site.deploy",
      description: "Deploys a site",
      inputSchema: z.object({ site: z.string() }),
      resource: { type: "site", action: "deploy", argument: "site" },
    },
    ({ site }) => {
      ran.push(`deploy ${site}`);
      return { site };
    },
  );
  operations.register(
    {
      name: "websearch.query",
      type: "query",
      description: "Searches the web",
      // A JSON Schema, as a hub has them of elsewhere.
      inputSchema: { type: "object", properties: { q: { type: "string", minLength: 1 } }, required: ["q"] },
    },
    (input) => {
      ran.push("websearch");
      return { found: input };
    },
  );
  operations.register({ name: "websearch.broken", type: "query", description: "Is broken" }, () => {
    throw new TypeError("the password is hunter2");
  });
}

const runner = defineSurface("runner", {
  "runner.about": readOnly(mcpTool(procedure({ output: z.object({ about: z.string() }) }))),
});

/** The ids of what an agent may use of whom nothing is asked, in their order. */
export const openOperations: readonly string[] = [
  "hub.coord.message",
  "hub.coord.spawn",
  "hub.coord.status",
  "hub.coord.wait",
  "hub.git.worktreeCreate",
  "hub.websearch.broken",
  "hub.websearch.query",
  "runner.about",
];

/** Makes one. */
export function createHub(): Hub {
  const parts: Pick<Hub, "ran" | "askedBy" | "stopped"> = { ran: [], askedBy: [], stopped: [] };
  const operations = operationRegistry();
  registerCoord(operations, parts);
  registerWaiting(operations, parts);
  registerOthers(operations, parts);
  const app = mcp(runner, {
    instructions: "Search, read the schema, call.",
    onFault: () => {},
  })
    .implement({ "runner.about": () => ({ about: "a hub" }) })
    .mount("hub", operations)
    .views({ default: { face: "gateway" }, direct: {} });
  return { ...parts, app, operations };
}
