import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import {
  cell,
  cellSource,
  defineSurface,
  mcp,
  mcpResource,
  mcpTool,
  procedure,
  readOnly,
  type McpOptions,
  type ServableApp,
} from "../../../src/index.ts";

/** A small surface with what a transport has to carry: a value that changes, a call, a slow one, and one with progress. */
export const demoSurface = defineSurface("demo", {
  count: mcpResource(cell({ schema: z.number() })),
  add: mcpTool(procedure({ input: z.object({ by: z.number() }), output: z.object({ count: z.number() }) })),
  sleep: readOnly(mcpTool(procedure({ input: z.object({ ms: z.number() }), output: z.string() }))),
  steps: readOnly(
    mcpTool(
      procedure({
        input: z.object({ count: z.number() }),
        output: z.number(),
        progress: z.object({ step: z.number() }),
      }),
    ),
  ),
});

/** What a test may look into. */
export interface Demo {
  readonly app: ServableApp;
  /** How many calls of `sleep` run. */
  readonly sleeping: () => number;
  /** How many of them were aborted. */
  readonly aborted: () => number;
}

/** Makes the app. */
export function createDemo(options: Pick<McpOptions, "onFault"> = {}): Demo {
  const count = cellSource(0);
  let sleeping = 0;
  let aborted = 0;
  const app = mcp(demoSurface, options).implement({
    count,
    add: ({ by }) => {
      count.set(count.get() + by);
      return { count: count.get() };
    },
    sleep: async ({ ms }, { signal }) => {
      sleeping += 1;
      try {
        await delay(ms, undefined, { signal });
        return "slept";
      } catch (cause) {
        aborted += 1;
        throw cause;
      } finally {
        sleeping -= 1;
      }
    },
    steps: async function* ({ count: most }) {
      for (let step = 1; step <= most; step += 1) {
        yield { step };
        await delay(5);
      }
      return most;
    },
  });
  return { app, sleeping: () => sleeping, aborted: () => aborted };
}
