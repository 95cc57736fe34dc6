import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { mcpTrpc } from "../../../src/builder/mcp-trpc.ts";
import type { Fault } from "../../../src/surface/fault.ts";
import { createTestClient } from "../../../src/testing/test-client.ts";
import { toRpcInput, type RpcProcedure } from "../../../src/from/rpc/procedure.ts";
import { NewestItems } from "../../../src/from/rpc/subscriptions.ts";
import { nextTurn } from "../../../src/surface/owner/waiting.ts";
import { anonymous } from "../../../src/surface/caller.ts";
import { createShop, shopContext } from "./shop.ts";
import { elevens, versions, type Trpc } from "./versions.ts";

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()));
});

function openShop(trpc: Trpc) {
  const { router, log } = createShop(trpc);
  const app = mcpTrpc(
    router,
    {
      ticks: "resource",
      deaf: "resource",
      quiet: "resource",
      feed: "resource",
      tireless: "resource",
      observed: "resource",
    },
    { context: shopContext, changeWindowMs: 0 },
  );
  const client = createTestClient(app);
  closing.push(() => client.close());
  return { client, log };
}

/** A channel that a test writes to, as a router with one subscription. */
function createChannel({ initTRPC }: Trpc) {
  const waiting: ((item: unknown) => void)[] = [];
  const state = { opened: 0, ended: 0 };
  const send = (item: unknown): void => {
    for (const wake of waiting.splice(0)) wake(item);
  };
  const t = initTRPC.context<{ readonly user: string }>().create();
  const router = t.router({
    items: t.procedure.subscription(async function* ({ signal, ctx }) {
      state.opened += 1;
      try {
        for (;;) {
          const item = await new Promise<unknown>((resolve, reject) => {
            waiting.push(resolve);
            signal?.addEventListener("abort", () => reject(new Error("aborted")));
          });
          if (item instanceof Error) throw item;
          yield `${String(item)} for ${ctx.user}`;
        }
      } finally {
        state.ended += 1;
      }
    }),
  });
  return { router, send, state, isWaiting: () => waiting.length > 0 };
}

describe.each(versions)("an observable of tRPC $version as a resource", ({ trpc }) => {
  it("has its newest item while it is watched, and ends with its last watcher", async () => {
    const { client, log } = openShop(trpc);
    let changes = 0;
    const stop = await client.watch("observed", () => void (changes += 1));
    await expect.poll(() => changes).toBeGreaterThan(2);
    expect(log.ended).toEqual([]);
    stop();
    await expect.poll(() => log.ended).toEqual(["observed"]);
    expect(await client.read("observed")).toEqual({ tick: 1 });
    await expect.poll(() => log.ended).toEqual(["observed", "observed"]);
  });
});

describe.each(elevens)("a subscription of tRPC $version as a resource", ({ trpc }) => {
  it("that nobody watches has its first item, and is ended after it", async () => {
    const { client, log } = openShop(trpc);
    expect(await client.read("ticks")).toEqual({ tick: 1 });
    await expect.poll(() => log.ended).toEqual(["ticks"]);
    expect(await client.read("deaf")).toEqual({ tick: 1 });
    await expect.poll(() => log.ended).toEqual(["ticks", "deaf"]);
    expect(await client.read("feed")).toEqual({ at: "1970-01-01T00:00:00.000Z" });
  });

  it("without an item within a second is absent, and ended", async () => {
    const { client, log } = openShop(trpc);
    await expect(client.read("quiet")).rejects.toThrow(/not found|no such|nothing|absent/i);
    await expect.poll(() => log.ended).toEqual(["quiet"]);
  });

  it("that never waits lets other work run, and ends", async () => {
    const { client, log } = openShop(trpc);
    const stop = await client.watch("tireless", () => {});
    await new Promise((resolve) => setTimeout(resolve, 5));
    stop();
    await expect.poll(() => log.ended).toEqual(["tireless"]);
  });

  it("that is watched announces each item, has the newest, and ends with its last watcher", async () => {
    const { router, send, state, isWaiting } = createChannel(trpc);
    const app = mcpTrpc(router, { items: "resource" }, { context: shopContext, changeWindowMs: 0 });
    const client = createTestClient(app);
    closing.push(() => client.close());
    let changes = 0;
    const watching = client.watch("items", () => void (changes += 1));
    await expect.poll(isWaiting).toBe(true);
    send(1);
    const stop = await watching;
    expect(await client.read("items")).toBe("1 for anonymous");
    const before = changes;
    await expect.poll(isWaiting).toBe(true);
    send(2);
    await expect.poll(() => changes).toBeGreaterThan(before);
    expect(await client.read("items")).toBe("2 for anonymous");
    expect(state).toEqual({ opened: 1, ended: 0 });
    stop();
    await expect.poll(() => state.ended).toBe(1);
  });

  it("of tracked items continues behind the last one when it is opened again", async () => {
    const t = trpc.initTRPC.context<{ readonly user: string }>().create();
    const inputs: unknown[] = [];
    const router = t.router({
      news: t.procedure
        .input(z.object({ from: z.number().default(7), lastEventId: z.string().nullish() }).optional())
        .subscription(async function* ({ input }) {
          inputs.push(input);
          // The second attempt fails before its first item, as behind a database that is still away.
          if (inputs.length === 1) yield trpc.tracked("e1", 1);
          if (inputs.length === 3) yield trpc.tracked("e2", 2);
          if (inputs.length < 3) throw new Error("lost");
        }),
      numbered: t.procedure.input(z.object({ lastEventId: z.number() }).partial()).subscription(async function* ({
        input,
      }) {
        inputs.push(input);
        yield trpc.tracked("e1", inputs.length);
        if (inputs.length === 1) throw new Error("lost");
      }),
    });
    const options = { context: shopContext, changeWindowMs: 0, onFault: () => {} };
    const client = createTestClient(mcpTrpc(router, { news: "resource", numbered: "resource" }, options));
    closing.push(() => client.close());
    const stop = await client.watch("news", () => {});
    await expect.poll(() => inputs.length).toBe(3);
    expect(await client.read("news")).toBe(2);
    stop();
    expect(inputs).toEqual([undefined, { from: 7, lastEventId: "e1" }, { from: 7, lastEventId: "e1" }]);
    // It has not failed: the next watcher begins anew.
    (await client.watch("news", () => {}))();
    expect(inputs.at(-1)).toBeUndefined();
    // The id of an item does not fit.
    inputs.length = 0;
    const end = await client.watch("numbered", () => {});
    await expect.poll(() => inputs).toEqual([{}, {}]);
    end();
  });

  it("that fails while it is watched is reported, and opened again", async () => {
    const { router, send, state, isWaiting } = createChannel(trpc);
    const faults: Fault[] = [];
    const onFault = (fault: Fault): void => void faults.push(fault);
    const app = mcpTrpc(router, { items: "resource" }, { context: shopContext, changeWindowMs: 0, onFault });
    const client = createTestClient(app);
    closing.push(() => client.close());
    const watching = client.watch("items", () => {});
    await expect.poll(isWaiting).toBe(true);
    send(1);
    const stop = await watching;
    await expect.poll(isWaiting).toBe(true);
    send(new Error("the secret of the stream"));
    await expect.poll(() => faults.length).toBe(1);
    await expect.poll(() => state.opened).toBe(2);
    stop();
    await expect.poll(() => state.ended).toBe(2);
  });
});

describe("a subscription that failed for many callers", () => {
  it("is continued for the last thousand", async () => {
    const inputs: unknown[] = [];
    const procedure: RpcProcedure = {
      kind: "subscription",
      texts: {},
      input: toRpcInput([z.object({ lastEventId: z.string().optional() })], "news"),
      output: undefined,
      async call(input) {
        inputs.push(input);
        return (async function* () {
          yield "item";
          throw new Error("lost");
        })();
      },
      toError: (cause) => cause,
      toItem: (item) => ({ id: "e1", item }),
    };
    const newest = new NewestItems();
    const failFor = async (id: number): Promise<void> => {
      const caller = { ...anonymous, id: `user ${id}` };
      const stop = newest.watch("news", procedure, { caller, changed: () => {} });
      const { signal } = new AbortController();
      const isFailed = (): Promise<unknown> => newest.read("news", procedure, { caller, signal }).catch(() => "failed");
      while ((await isFailed()) !== "failed") await nextTurn();
      stop();
    };
    for (let id = 0; id <= 1000; id += 1) await failFor(id);
    inputs.length = 0;
    await failFor(1);
    await failFor(0);
    expect(inputs).toEqual([{ lastEventId: "e1" }, {}]);
  });
});
