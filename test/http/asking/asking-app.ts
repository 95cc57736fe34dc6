import * as z from "zod";
import { setTimeout as sleep } from "node:timers/promises";
import type { Asks, Elicited } from "../../../src/catalog/asking/asking.ts";
import { cell, cellSource, defineSurface, mcp, mcpResource, type McpOptions } from "../../../src/index.ts";
import type { AppRuntime, ServableApp } from "../../../src/mcp/servable-app.ts";

const surface = defineSurface("asks", {
  count: mcpResource(cell({ schema: z.number(), description: "How many there are" })),
});

const named = z.object({ name: z.string() });

interface Said {
  readonly said: string;
}

/** What a handler that asks has. */
interface Asking {
  readonly ask: Asks;
}

function toSaid(answer: Elicited<{ readonly name: string }>): string {
  return answer.action === "accept" ? answer.content.name : answer.action;
}

/** What its handlers do, and what became of that. */
class Asked {
  /** How each question has failed, by its code, in order. */
  readonly failures: string[] = [];
  /** What became of what was asked by parts that outlive their calls. */
  readonly late: unknown[] = [];
  /** What its author was told of. */
  readonly faults: unknown[] = [];
  /** How often a handler was begun. */
  runs = 0;

  async greet({ ask }: Asking): Promise<Said> {
    this.runs += 1;
    return { said: toSaid(await this.#noted(ask.elicit("name", named, "What is your name?"))) };
  }

  async writeText({ ask }: Asking): Promise<Said> {
    const messages = [{ role: "user", content: "A word, please" }] as const;
    return { said: (await this.#noted(ask.sample("word", { messages, maxTokens: 10 }))).text };
  }

  async locate({ ask }: Asking): Promise<Said> {
    return { said: (await this.#noted(ask.roots())).map(({ uri }) => uri).join(" ") };
  }

  async all(context: Asking): Promise<Said> {
    const all = await Promise.all([this.greet(context), this.writeText(context), this.locate(context)]);
    return { said: all.map(({ said }) => said).join(", ") };
  }

  async rounds(count: number, { ask }: Asking): Promise<Said> {
    this.runs += 1;
    const said: string[] = [];
    for (let round = 1; round <= count; round += 1) {
      said.push(toSaid(await this.#noted(ask.elicit(`round_${round}`, named, `Round ${round}`))));
    }
    return { said: said.join(" ") };
  }

  change(): Said {
    this.runs += 1;
    return { said: "changed" };
  }

  erase(what: string): Said {
    this.runs += 1;
    return { said: `erased ${what}` };
  }

  /** Has a part go on when its call is over, which is a little later. */
  async outlive(going: Promise<unknown>): Promise<Said> {
    const keep = (came: unknown): void => void this.late.push(came);
    void going.then(keep, keep);
    await sleep(50);
    return { said: "over" };
  }

  async #noted<TAnswer>(asked: Promise<TAnswer>): Promise<TAnswer> {
    try {
      return await asked;
    } catch (cause) {
      // Whatever rejects a question has a code.
      this.failures.push((cause as { readonly code: string }).code);
      throw cause;
    }
  }
}

/** An app whose tools ask their client. */
export interface AskingApp {
  readonly app: ServableApp;
  readonly asked: Asked;
}

/** An app whose prompts and resources ask. */
function createReaders(options: Pick<McpOptions, "asking">, asked: Asked) {
  const onFault = (fault: unknown): void => void asked.faults.push(fault);
  return mcp(surface, { version: "1.0.0", onFault, ...options })
    .implement({ count: cellSource(1) })
    .prompts({ welcome: { handler: async (_args, context) => `Welcome ${(await asked.greet(context)).said}` } })
    .resources({
      notes: {
        uri: "asks://notes",
        read: async (_variables, context) => `Notes of ${(await asked.greet(context)).said}`,
      },
    });
}

/** Makes the app. */
export function createAskingApp(options: Pick<McpOptions, "asking"> = {}): AskingApp {
  const asked = new Asked();
  const reads = { mutates: false };
  const goOn = { onAbort: "continue-running" } as const;
  const app = createReaders(options, asked).tools({
    greet: { ...reads, handler: (_args, context) => asked.greet(context) },
    hurried: { ...reads, timeoutMs: 60, handler: (_args, context) => asked.greet(context) },
    greet_or_end: { ...reads, onDisconnect: "abort", handler: (_args, context) => asked.greet(context) },
    greet_late: { ...reads, handler: (_args, context) => sleep(100).then(() => asked.greet(context)) },
    write: { ...reads, handler: (_args, context) => asked.writeText(context) },
    locate: { ...reads, handler: (_args, context) => asked.locate(context) },
    all: { ...reads, handler: (_args, context) => asked.all(context) },
    rounds: {
      ...reads,
      input: z.object({ count: z.number() }),
      handler: ({ count }, context) => asked.rounds(count, context),
    },
    told: {
      ...reads,
      handler: (_args, context) => {
        context.progress({ progress: 1 });
        return asked.greet(context);
      },
    },
    erase: {
      title: "Erase everything",
      confirm: true,
      input: z.object({ what: z.string() }),
      handler: ({ what }) => asked.erase(what),
    },
    late: {
      canCall: ["change"],
      handler: async (_args, { ask, call }) => (await call("change"), ask.elicit("name", named, "What is your name?")),
    },
    change: { handler: () => asked.change() },
    outlive: { ...reads, canCall: ["greet"], handler: (_args, { call }) => asked.outlive(call("greet", {}, goOn)) },
    outlive_late: {
      ...reads,
      canCall: ["greet_late"],
      handler: (_args, { call }) => asked.outlive(call("greet_late", {}, goOn)),
    },
  });
  return { app, asked };
}

/** The same, opened. */
export function openAskingApp(options: Pick<McpOptions, "asking"> = {}): AskingApp & { readonly runtime: AppRuntime } {
  const all = createAskingApp(options);
  return { ...all, runtime: all.app.open() };
}
