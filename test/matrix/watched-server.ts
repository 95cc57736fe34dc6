import * as z from "zod";
import {
  cell,
  cellSource,
  collection,
  defineSurface,
  event,
  mcp,
  mcpResource,
  mcpTool,
  procedure,
  stdio,
  stream,
} from "../../src/index.ts";

// Everything that can change, and a tool that changes it.
const quarry = defineSurface("quarry", {
  depth: mcpResource(cell({ schema: z.number() })),
  stones: mcpResource(collection({ key: z.string(), schema: z.object({ weight: z.number() }) })),
  finds: mcpResource(stream({ input: z.object({ pit: z.string() }), output: z.object({ find: z.string() }) })),
  blasts: mcpResource(event({ output: z.object({ at: z.string() }) })),
  hidden: cell({ schema: z.number() }),
  dig: mcpTool(procedure({ input: z.object({ times: z.int() }), output: z.number() })),
  weigh: mcpTool(procedure({ input: z.object({ stone: z.string(), weight: z.number() }), output: z.int() })),
  find: mcpTool(procedure({ input: z.object({ pit: z.string(), find: z.string() }), output: z.boolean() })),
  blast: mcpTool(procedure({ input: z.object({ at: z.string() }), output: z.boolean() })),
});

/** Tells whoever listens, and nobody who comes late. */
class Horn<TValue> {
  readonly #heard = new Set<(value: TValue) => void>();

  blow(value: TValue): void {
    for (const hear of this.#heard) hear(value);
  }

  async *listen(signal: AbortSignal): AsyncGenerator<TValue> {
    const waiting: TValue[] = [];
    let wake: () => void = () => {};
    const hear = (value: TValue): void => {
      waiting.push(value);
      wake();
    };
    this.#heard.add(hear);
    signal.addEventListener("abort", () => wake(), { once: true });
    try {
      while (!signal.aborted) {
        yield* waiting.splice(0);
        if (waiting.length === 0 && !signal.aborted) await new Promise<void>((resolve) => (wake = resolve));
      }
    } finally {
      this.#heard.delete(hear);
    }
  }
}

const depth = cellSource(0);
const stones = cellSource<ReadonlyMap<string, { readonly weight: number }>>(
  new Map(Array.from({ length: 300 }, (_none, index) => [`s${index}`, { weight: 1 }])),
);
const finds = new Map<string, Horn<{ find: string }>>();
const blasts = new Horn<{ at: string }>();

function hornOf(pit: string): Horn<{ find: string }> {
  const horn = finds.get(pit) ?? new Horn();
  finds.set(pit, horn);
  return horn;
}

const app = mcp(quarry, { uriPrefix: "quarry://" }).implement({
  depth,
  stones,
  finds: ({ pit }, { signal }) => hornOf(pit).listen(signal),
  blasts: (_input, { signal }) => blasts.listen(signal),
  hidden: cellSource(0),
  dig: ({ times }) => {
    for (let index = 0; index < times; index += 1) depth.set(depth.get() + 1);
    return depth.get();
  },
  weigh: ({ stone, weight }) => {
    stones.set(new Map([...stones.get(), [stone, { weight }]]));
    return stones.get().size;
  },
  find: ({ pit, find }) => {
    hornOf(pit).blow({ find });
    return true;
  },
  blast: ({ at }) => {
    blasts.blow({ at });
    return true;
  },
});

await stdio().serve(app);
