import * as z from "zod";
import {
  cell,
  cellSource,
  collection,
  defineSurface,
  mcp,
  mcpResource,
  mcpTool,
  procedure,
  readOnly,
} from "../../../src/index.ts";
import type { AppRuntime } from "../../../src/mcp/servable-app.ts";

const walking = {
  input: z.object({}),
  output: z.object({ done: z.boolean() }),
  progress: z.object({ progress: z.number(), total: z.number() }),
} as const;

const surface = defineSurface("steps", {
  state: mcpResource(cell({ schema: z.object({ count: z.number() }), description: "The state" })),
  other: mcpResource(cell({ schema: z.object({ count: z.number() }), description: "Another" })),
  items: mcpResource(collection({ key: z.string(), schema: z.object({ label: z.string() }) }), { listItems: true }),
  echo: readOnly(mcpTool(procedure({ input: z.object({ text: z.string() }), output: z.object({ text: z.string() }) }))),
  walk: readOnly(mcpTool(procedure(walking))),
  stroll: readOnly(mcpTool(procedure(walking), { onDisconnect: "abort" })),
});

/** An app whose slow calls go on a step at a time, when they are told to. */
export interface Steps {
  readonly runtime: AppRuntime;
  /** How many calls wait to be told. */
  readonly waiting: number;
  /** Has every call under way take a step. */
  step(): void;
  /** Has every call under way arrive. */
  arrive(): void;
  /** How many calls were aborted, and how many have arrived. */
  readonly counts: { aborted: number; arrived: number };
  /** Changes what is watched. */
  change(): void;
}

/** Makes the app and opens it; behind a gateway where that is asked for. */
export function openSteps({ isGateway = false }: { isGateway?: boolean } = {}): Steps {
  const state = cellSource({ count: 0 });
  const counts = { aborted: 0, arrived: 0 };
  const walks = new Set<(isLast: boolean) => void>();
  async function* walk(_input: object, { signal }: { readonly signal: AbortSignal }) {
    const aborted = new Promise<never>((_, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    });
    aborted.catch(() => void (counts.aborted += 1));
    for (let progress = 1; ; progress += 1) {
      const isLast = await Promise.race([aborted, new Promise<boolean>((resolve) => walks.add(resolve))]);
      if (isLast) {
        counts.arrived += 1;
        return { done: true };
      }
      yield { progress, total: 100 };
    }
  }
  const tell = (isLast: boolean): void => {
    const all = [...walks];
    walks.clear();
    for (const next of all) next(isLast);
  };
  const app = mcp(surface, { uriPrefix: "app://", version: "1.0.0", onFault: () => {} }).implement({
    state,
    other: cellSource({ count: 0 }),
    items: cellSource(new Map([["a", { label: "the first" }]])),
    echo: ({ text }) => ({ text }),
    walk,
    stroll: walk,
  });
  return {
    runtime: (isGateway ? app.views({ default: { face: "gateway" } }) : app).open(),
    get waiting() {
      return walks.size;
    },
    step: () => tell(false),
    arrive: () => tell(true),
    counts,
    change: () => state.set({ count: state.get().count + 1 }),
  };
}
