import * as z from "zod";
import { setTimeout as sleep } from "node:timers/promises";
import type { Asks } from "../../src/catalog/asking/asking.ts";
import { cell, cellSource, collection, defineSurface, mcp, mcpResource, mcpTool, procedure } from "../../src/index.ts";

const desk = defineSurface("desk", {
  count: mcpResource(cell({ schema: z.number() })),
  notes: mcpResource(collection({ key: z.string(), schema: z.object({ text: z.string() }) })),
  raise: mcpTool(procedure({ input: z.object({ by: z.number() }), output: z.object({ count: z.number() }) })),
  note: mcpTool(procedure({ input: z.object({ key: z.string() }), output: z.int() })),
});

const named = z.object({ name: z.string() });

interface Asking {
  readonly ask: Asks;
}

/** What became of what its tools do. */
class Seen {
  readonly erased: string[] = [];
  /** How questions have failed, by code. */
  readonly failures: unknown[] = [];
  readonly faults: unknown[] = [];
  #onFollowed: () => void = () => {};
  /** Resolves when a handler listens for other roots. */
  readonly followed: Promise<void> = new Promise((resolve) => (this.#onFollowed = resolve));
  rootsChanged = 0;

  async noted<TAnswer>(asked: Promise<TAnswer>): Promise<TAnswer> {
    try {
      return await asked;
    } catch (cause) {
      this.failures.push(Reflect.get(Object(cause), "code"));
      throw cause;
    }
  }

  async greet({ ask }: Asking): Promise<{ said: string }> {
    const answer = await this.noted(ask.elicit("name", named, "What is your name?"));
    return { said: answer.action === "accept" ? answer.content.name : answer.action };
  }

  async write({ ask }: Asking): Promise<{ said: string }> {
    const messages = [{ role: "user", content: "A word, please" }] as const;
    return { said: (await this.noted(ask.sample("word", { messages, maxTokens: 10 }))).text };
  }

  async locate({ ask }: Asking): Promise<{ roots: string[] }> {
    return { roots: (await this.noted(ask.roots())).map(({ uri }) => uri) };
  }

  follow({ ask, signal }: Asking & { readonly signal: AbortSignal }): Promise<{ changed: boolean }> {
    return new Promise((resolve, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason), { once: true });
      ask.onRoots(() => {
        this.rootsChanged += 1;
        resolve({ changed: true });
      });
      this.#onFollowed();
    });
  }

  erase(what: string): { erased: string } {
    this.erased.push(what);
    return { erased: what };
  }
}

async function step(progress: (report: { progress: number; total: number }) => void): Promise<{ steps: number }> {
  for (let at = 1; at <= 3; at += 1) {
    progress({ progress: at, total: 3 });
    // A client of the SDK 1.x drops reports that come in one piece with the answer.
    await sleep(20);
  }
  return { steps: 3 };
}

function implement(seen: Seen) {
  const count = cellSource(0);
  const notes = cellSource<ReadonlyMap<string, { readonly text: string }>>(new Map());
  const onFault = ({ cause }: { readonly cause: unknown }): void => void seen.faults.push(cause);
  return mcp(desk, { uriPrefix: "desk://", changeWindowMs: 1, onFault }).implement({
    count,
    notes,
    raise: ({ by }) => {
      count.set(count.get() + by);
      return { count: count.get() };
    },
    note: ({ key }) => {
      notes.set(new Map([...notes.get(), [key, { text: key }]]));
      return notes.get().size;
    },
  });
}

/** An app that changes, reports and asks, and what became of that. */
export function createDesk() {
  const seen = new Seen();
  const reads = { mutates: false };
  const app = implement(seen).tools({
    greet: { ...reads, handler: (_args, context) => seen.greet(context) },
    write: { ...reads, handler: (_args, context) => seen.write(context) },
    locate: { ...reads, handler: (_args, context) => seen.locate(context) },
    follow: { ...reads, handler: (_args, context) => seen.follow(context) },
    erase: {
      title: "Erase everything",
      confirm: true,
      input: z.object({ what: z.string() }),
      handler: ({ what }) => seen.erase(what),
    },
    late: {
      canCall: ["erase_now"],
      handler: async (_args, context) => (await context.call("erase_now"), seen.greet(context)),
    },
    erase_now: { handler: () => seen.erase("now") },
    hurried: { ...reads, timeoutMs: 60, handler: (_args, context) => seen.greet(context) },
    steps: { ...reads, handler: (_args, { progress }) => step(progress) },
  });
  return { app, seen };
}
