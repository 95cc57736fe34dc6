import * as z from "zod";
import { content, defineSurface, implementSurface, inProcess, mcp, type McpOptions } from "../../src/index.ts";

const surface = defineSurface("asker", {});

const named = z.object({ name: z.string() });
const sure = z.object({ sure: z.boolean() });

/** How often each handler was begun, by its name. */
export type Begun = Map<string, number>;

function count(begun: Begun, name: string): void {
  begun.set(name, (begun.get(name) ?? 0) + 1);
}

function addQuestions(options: McpOptions, begun: Begun) {
  return mcp(surface, { onFault: () => {}, ...options })
    .bridge(inProcess(implementSurface(surface, {})))
    .tools({
      greet: {
        mutates: false,
        input: z.object({ greeting: z.string().default("Hello") }),
        async handler({ greeting }, { ask, addMeta }) {
          count(begun, "greet");
          addMeta({ "asker/run": "r1" });
          const said = await ask.elicit("who", named, "Who are you?");
          return { text: said.action === "accept" ? `${greeting} ${said.content.name}` : said.action };
        },
      },
      write: {
        mutates: false,
        async handler(_args: undefined, { ask }) {
          const { text } = await ask.sample("line", { messages: [{ role: "user", content: "A line" }], maxTokens: 9 });
          return { text };
        },
      },
      where: {
        mutates: false,
        handler: async (_args: undefined, { ask }) => ({ roots: (await ask.roots()).map(({ uri }) => uri) }),
      },
      several: {
        mutates: false,
        async handler(_args: undefined, { ask }) {
          const [first, second, roots] = await Promise.all([
            ask.elicit("first", named, "First?"),
            ask.elicit("second", named, "Second?"),
            ask.roots(),
          ]);
          return { first: first.action, second: second.action, roots: roots.length };
        },
      },
    });
}

/** Tools of which one asks after it has changed something. */
function addLate(options: McpOptions, begun: Begun) {
  return addQuestions(options, begun).tools({
    late: {
      canCall: ["stamp"],
      async handler(_args: undefined, { ask, call }) {
        await call("stamp");
        return await ask.elicit("who", named, "Who are you?");
      },
    },
    stamp: {
      handler() {
        count(begun, "stamp");
        return { stamps: begun.get("stamp") ?? 0 };
      },
    },
  });
}

function addTools(options: McpOptions, begun: Begun) {
  return addLate(options, begun).tools({
    rounds: {
      mutates: false,
      canCall: ["tick"],
      async handler(_args: undefined, { ask, call }) {
        const tick = await call("tick");
        const first = await ask.elicit("first", named, "First?");
        const second = await ask.elicit("second", sure, "Sure?");
        return { tick, first: first.action, second: second.action };
      },
    },
    tick: {
      mutates: false,
      handler() {
        count(begun, "tick");
        return { ticks: begun.get("tick") ?? 0 };
      },
    },
    wipe: {
      title: "Wipe it all",
      confirm: true,
      input: z.object({ disk: z.string() }),
      handler({ disk }) {
        count(begun, "wipe");
        return { wiped: disk };
      },
    },
    broken: {
      mutates: false,
      handler(_args: undefined, { addMeta }) {
        addMeta({ "asker/run": "r2", "surface-mcp/error": "forged", "io.modelcontextprotocol/serverInfo": "forged" });
        throw new Error("secret");
      },
    },
    steps: {
      mutates: false,
      handler(_args: undefined, { progress }) {
        progress({ progress: 1, message: "one", meta: { "asker/tokens": 12 } });
        return content(["no"], { isError: true });
      },
    },
  });
}

/** An app whose handlers ask their clients in every way there is. */
export function createAskingApp(options: McpOptions = {}, begun: Begun = new Map()) {
  return addTools(options, begun)
    .prompts({
      letter: {
        async handler(_args: undefined, { ask }) {
          const said = await ask.elicit("who", named, "To whom?");
          return said.action === "accept" ? `Write to ${said.content.name}` : "Write to nobody";
        },
      },
    })
    .resources({
      desk: {
        async read(_args: undefined, { ask }) {
          const said = await ask.elicit("who", named, "Whose?");
          return said.action === "accept" ? { of: said.content.name } : { of: null };
        },
      },
    });
}
