import { setTimeout as sleep } from "node:timers/promises";
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
  readOnly,
  Refusal,
  stdio,
  stream,
} from "../../src/index.ts";

// One of everything, for the SDK's own clients to use. Arguments: `--page-size N`.
const kiln = defineSurface("kiln", {
  temperature: mcpResource(cell({ schema: z.number(), title: "Temperature", description: "In degrees" })),
  pots: mcpResource(collection({ key: z.string(), schema: z.object({ glaze: z.string() }) })),
  ticks: mcpTool(stream({ input: z.object({ from: z.int() }), output: z.object({ n: z.int() }) })),
  bell: mcpTool(event({ output: z.object({ why: z.string() }), description: "Fires when somebody rings" })),
  ring: mcpTool(procedure({ input: z.object({ why: z.string() }), output: z.boolean() })),
  add: readOnly(
    mcpTool(
      procedure({
        input: z.object({ a: z.number(), b: z.number() }),
        output: z.object({ sum: z.number(), at: z.date() }),
      }),
    ),
  ),
  refuse: mcpTool(procedure({ input: z.object({}), output: z.object({ never: z.number() }) })),
  fire: mcpTool(
    procedure({ input: z.object({ steps: z.int() }), output: z.object({ steps: z.int() }), progress: z.number() }),
  ),
  hold: mcpTool(procedure({ input: z.object({}), output: z.boolean() })),
  aborted: readOnly(mcpTool(procedure({ input: z.object({}), output: z.int() }))),
});

let aborted = 0;
const bells: ((why: string) => void)[] = [];

async function* listenForBells(signal: AbortSignal): AsyncGenerator<{ why: string }> {
  while (!signal.aborted) {
    yield {
      why: await new Promise<string>((resolve, reject) => {
        bells.push(resolve);
        signal.addEventListener("abort", () => reject(signal.reason), { once: true });
      }),
    };
  }
}

const [, pageSize] = process.argv.slice(2);

const app = mcp(kiln, {
  version: "1.2.3",
  title: "Kiln",
  instructions: "Mind the heat",
  ...(pageSize === undefined ? {} : { pageSize: Number(pageSize) }),
}).implement({
  temperature: cellSource(20.5),
  pots: cellSource(
    new Map([
      ["blue/1 ö", { glaze: "cobalt" }],
      ["green", { glaze: "copper" }],
    ]),
  ),
  async *ticks({ from }) {
    for (let n = from; n < from + 5; n += 1) yield { n };
  },
  bell: (_input, { signal }) => listenForBells(signal),
  ring: ({ why }) => {
    for (const hear of bells.splice(0)) hear(why);
    return true;
  },
  add: ({ a, b }) => ({ sum: a + b, at: new Date(0) }),
  refuse: () => {
    throw new Refusal("KILN_HOT", "Too hot to open", { degrees: 1200 });
  },
  async *fire({ steps }) {
    for (let step = 1; step <= steps; step += 1) {
      yield step;
      await sleep(20);
    }
    return { steps };
  },
  hold: async (_input, { signal }) => {
    signal.addEventListener("abort", () => (aborted += 1), { once: true });
    await new Promise(() => {});
    return true;
  },
  aborted: () => aborted,
});

await stdio().serve(app);
