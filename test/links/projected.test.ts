import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { mcp } from "../../src/builder/mcp.ts";
import { inProcess } from "../../src/links/in-process.ts";
import type { Link } from "../../src/links/link.ts";
import { projected } from "../../src/links/projected.ts";
import { siblingLinks } from "../../src/links/sibling-links.ts";
import { listenUnixSocket, unixSocket } from "../../src/links/unix-socket.ts";
import { cell, event, procedure } from "../../src/surface/define-members.ts";
import { composeSurfaces } from "../../src/surface/compose-surfaces.ts";
import { defineSurface } from "../../src/surface/define-surface.ts";
import { derive } from "../../src/surface/derive/derive.ts";
import { implementSurface } from "../../src/surface/implement-surface.ts";
import { projectSurface } from "../../src/surface/project-surface.ts";
import { cellSource } from "../../src/surface/source.ts";
import { mcpResource } from "../../src/tags/mcp-resource.ts";
import { mcpTool } from "../../src/tags/mcp-tool.ts";
import { readOnly } from "../../src/tags/read-only.ts";
import { createTestClient } from "../../src/testing/test-client.ts";
import { until } from "../surface/support.ts";
import { afterThis, newFolder } from "./unix/support.ts";
import * as z from "zod";

const depot = defineSurface("depot", {
  crates: cell({ schema: z.number() }),
  arrived: event({ output: z.number() }),
  ship: procedure({ input: z.number(), output: z.number() }),
  hold: procedure({ output: z.number() }),
  burn: procedure({}),
});

const agent = projectSurface(
  depot,
  defineSurface("agent", {
    crates: mcpResource(cell({ schema: z.object({ crates: z.number(), full: z.boolean() }) })),
    arrived: mcpTool(event({ output: z.object({ crates: z.number() }) })),
    ship: mcpTool(procedure({ input: z.number(), output: z.number() })),
    hold: mcpTool(procedure({ output: z.number() })),
    look: readOnly(mcpTool(procedure({ input: z.number(), output: z.number() }))),
  }),
  (client) => ({
    crates: derive.cell(client.crates, (crates) => ({ crates, full: crates > 9 })),
    arrived: derive.event(client.arrived, (crates) => ({ crates })),
    ship: derive.procedure(client.ship),
    hold: derive.procedure(client.hold),
    look: derive.procedure(client.ship),
  }),
);

function startDepot() {
  const crates = cellSource(1);
  let held = 0;
  const live = implementSurface(
    depot,
    {
      crates,
      async *arrived(_input, { signal }) {
        yield 1;
        await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
      },
      ship: (count) => count,
      hold: (_input, { signal }) => {
        held += 1;
        return new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
      },
      burn: () => {},
    },
    { onFault: () => {} },
  );
  afterThis(() => live.close());
  return { live, crates, held: () => held };
}

/** A way to a socket that breaks as that of a process that is killed. */
async function openStreet(to: string, at: string) {
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(to);
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => sockets.delete(socket));
    }
    near.pipe(far).pipe(near);
  });
  const open = async (): Promise<void> => {
    server.listen(at);
    await once(server, "listening");
  };
  const kill = async (): Promise<void> => {
    const closed = once(server, "close");
    server.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  await open();
  afterThis(async () => {
    if (server.listening) await kill();
  });
  return { kill, open };
}

function openAgent(link: Link) {
  const app = mcp(agent, { onFault: () => {} }).bridge(projected(agent, link));
  const client = createTestClient(app);
  afterThis(() => client.close());
  return client;
}

/** A link that counts how often it connects. */
function counted(link: Link): { readonly link: Link; readonly dials: () => number } {
  let dials = 0;
  return {
    dials: () => dials,
    link: {
      connect(surface, options) {
        dials += 1;
        return link.connect(surface, options);
      },
    },
  };
}

describe("projected()", () => {
  it("connects a client to the projection, over a link to what it comes from", async () => {
    const { live } = startDepot();
    const connection = await projected(agent, inProcess(live)).connect(agent);
    expect(await connection.client.crates.get()).toEqual({ crates: 1, full: false });
    expect(await connection.client.ship.call(4)).toBe(4);
    await connection.close();
    expect(await connection.closed).toMatchObject({ kind: "closed" });
    await expect(connection.client.ship.call(4)).rejects.toMatchObject({ code: "CLOSED" });
  });

  it("refuses another surface than the projection, and a link to another than it comes from", async () => {
    const { live } = startDepot();
    const link = projected(agent, inProcess(live));
    await expect(link.connect(depot)).rejects.toMatchObject({ code: "UNKNOWN_MEMBER" });
    const other = implementSurface(defineSurface("other", {}), {});
    afterThis(() => other.close());
    expect(() => projected(agent, inProcess(other)).check?.(agent)).toThrow(
      expect.objectContaining({ code: "UNKNOWN_MEMBER" }),
    );
  });

  it("offers to agents what the projection names, and nothing else", async () => {
    const { live } = startDepot();
    const client = openAgent(inProcess(live));
    expect((await client.toolNames()).toSorted()).toEqual(["arrived", "hold", "look", "ship"]);
    expect(await client.read("crates")).toEqual({ crates: 1, full: false });
    expect(await client.tools.ship({ value: 3 })).toMatchObject({ structured: { value: 3 } });
  });

  it("says that the outcome is unknown when a step of a handler by hand is not begun after one that took effect", async () => {
    let paid = 0;
    const tills = defineSurface("till", { pay: procedure({ output: z.number() }) });
    const till = implementSurface(tills, { pay: () => (paid += 1) });
    afterThis(() => till.close());
    const order = projectSurface(
      composeSurfaces("shop", { till: tills, depot }),
      defineSurface("agent", { order: mcpTool(procedure({ output: z.number() })) }),
      (shop) => ({
        order: async () => {
          await shop["till.pay"].call();
          return shop["depot.ship"].call(1);
        },
      }),
    );
    const link = siblingLinks({ till: inProcess(till), depot: unixSocket(join(await newFolder(), "nobody.sock")) });
    const client = createTestClient(mcp(order, { onFault: () => {} }).bridge(projected(order, link)));
    afterThis(() => client.close());
    const answer = await client.tools.order({});
    expect(paid).toBe(1);
    expect(answer).toMatchObject({ isError: true, code: "OUTCOME_UNKNOWN" });
    expect(answer.text).not.toMatch(/nothing was sent|try again shortly/);
  });

  it("reaches a surface over a projection of a projection", async () => {
    const { live } = startDepot();
    const outer = projectSurface(
      agent,
      defineSurface("outer", { full: cell({ schema: z.boolean() }), ship: procedure({ input: z.number() }) }),
      (client) => ({
        full: derive.cell(client.crates, ({ full }) => full),
        ship: derive.procedure(client.ship),
      }),
    );
    const connection = await projected(outer, projected(agent, inProcess(live))).connect(outer);
    expect(await connection.client.full.get()).toBe(false);
    expect(await connection.client.ship.call(2)).toBe(2);
    await connection.close();
  });

  it("does not connect while nobody asks, and then does so for its events", async () => {
    const { live } = startDepot();
    const { link, dials } = counted(inProcess(live));
    const kept = projected(agent, link).keep?.({ onFault: () => {} });
    afterThis(() => kept?.close());
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(dials()).toBe(0);
    await until(() => dials() === 1, "the events to begin");
  });

  it("keeps what its events said for an app that nobody asks anything for a while", async () => {
    const { live } = startDepot();
    const kept = projected(agent, inProcess(live)).keep?.({ onFault: () => {} });
    if (kept === undefined) throw new Error("it keeps nothing");
    const first = await kept.connect(agent);
    await expect.poll(async () => (await first.client.arrived.recent()).occurrences.length).toBe(1);
    const page = await first.client.arrived.recent();
    await first.close();
    const second = await kept.connect(agent);
    expect(await second.client.arrived.recent()).toEqual(page);
    await kept.close();
    expect(await second.closed).toMatchObject({ kind: "gone" });
  });

  it("lets go of its upstream half a minute after the last wait for an event with an input", async () => {
    const input = z.object({ room: z.string() });
    const doors = defineSurface("doors", { rang: mcpTool(event({ input, output: z.number() })) });
    const ring: { now: () => void } = { now: () => {} };
    const live = implementSurface(doors, {
      async *rang(_input, { signal }) {
        for (let count = 1; !signal.aborted; count += 1) {
          await new Promise<void>((resolve) => {
            ring.now = resolve;
            signal.addEventListener("abort", () => resolve(), { once: true });
          });
          if (!signal.aborted) yield count;
        }
      },
    });
    afterThis(() => live.close());
    let open = 0;
    const link: Link = {
      async connect(surface, options) {
        const connection = await inProcess(live).connect(surface, options);
        open += 1;
        void connection.closed.then(() => (open -= 1));
        return connection;
      },
    };
    const projection = projectSurface(doors, doors, ({ rang }) => ({ rang: derive.event(rang, (count) => count) }));
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    onTestFinished(() => void vi.useRealTimers());
    const client = createTestClient(mcp(projection).bridge(projected(projection, link)));
    const turns = async (): Promise<void> => {
      for (let turn = 0; turn < 30; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    };
    const during = async <TValue>(work: Promise<TValue>): Promise<TValue> => {
      const told = { isOver: false };
      void work.finally(() => (told.isOver = true));
      while (!told.isOver) {
        vi.advanceTimersByTime(10);
        await turns();
      }
      return work;
    };
    const pass = async (seconds: number): Promise<void> => {
      for (let second = 0; second < seconds; second += 1) {
        vi.advanceTimersByTime(1000);
        await turns();
      }
    };
    const before = await during(client.tools.rang({ room: "a", timeout_ms: 0 }));
    expect(open).toBe(1);
    // What happens while the projection rests is kept further up.
    await pass(10);
    ring.now();
    await turns();
    const { cursor: since } = z.object({ cursor: z.string() }).parse(before.isError || before.structured);
    const fired = await during(client.tools.rang({ room: "a", since, timeout_ms: 1000 }));
    expect(fired.isError || fired.structured).toMatchObject({ status: "fired", occurrence: 1 });
    await pass(32);
    expect(open).toBe(0);
    await client.close();
  });

  it("fails when an app is opened whose projection throws, and leaves nothing open", async () => {
    const { live } = startDepot();
    const broken = projectSurface(depot, defineSurface("broken", {}), () => {
      throw new Error("no handlers today");
    });
    const { link, dials } = counted(inProcess(live));
    expect(() => projected(broken, link).keep?.()).toThrow("no handlers today");
    expect(dials()).toBe(0);
  });

  it("stands, marked as stale, while its far side is killed, and goes on when that is back", async () => {
    const folder = await newFolder();
    const { live, crates, held } = startDepot();
    const listening = await listenUnixSocket(live, join(folder, "depot"));
    afterThis(() => listening.close());
    const street = await openStreet(join(folder, "depot"), join(folder, "street"));
    const kept = projected(agent, unixSocket(join(folder, "street"))).keep?.({ onFault: () => {} });
    if (kept === undefined) throw new Error("it keeps nothing");
    afterThis(() => kept.close());
    const { client } = await kept.connect(agent);
    const seen: unknown[] = [];
    const watch = async (): Promise<void> => {
      for await (const reading of client.crates.readings()) seen.push(reading);
    };
    // It ends with what it watches.
    watch().catch(() => {});
    await until(() => seen.length === 1, "the first value");
    expect(seen[0]).toEqual({ value: { crates: 1, full: false } });

    const holding = client.hold.call();
    await until(() => held() === 1, "the call to be under way");
    await Promise.all([street.kill(), expect(holding).rejects.toMatchObject({ code: "OUTCOME_UNKNOWN" })]);
    await until(() => seen.length === 2, "the value to be stale");
    expect(seen[1]).toMatchObject({ value: { crates: 1, full: false }, stale: { reason: "lost" } });
    await expect(client.ship.call(1)).rejects.toMatchObject({ code: "UNAVAILABLE" });
    const waiting = client.arrived.wait(undefined, { timeoutMs: 50 });
    expect(await waiting.catch((cause: unknown) => cause)).toSatisfy(
      (answer: { status?: string; code?: string }) => answer.status === "timed_out" || answer.code === "UNAVAILABLE",
    );

    crates.set(12);
    await street.open();
    await until(() => seen.length > 2, "the value after the loss");
    expect(seen.at(-1)).toEqual({ value: { crates: 12, full: true } });
    expect(await client.look.call(5)).toBe(5);
  });
});

describe("inProcess() where a projection is asked for", () => {
  const same = projectSurface(
    depot,
    defineSurface("depot", { full: mcpResource(cell({ schema: z.boolean() })) }),
    (up) => ({
      full: derive.cell(up.crates, (crates) => crates > 9),
    }),
  );

  it.each([
    ["of another name", agent, { code: "UNKNOWN_MEMBER", words: "bridge projected(agent, link)" }],
    ["of the same name", same, { code: "CONTRACT_MISMATCH", words: "bridge projected(depot, link)" }],
  ])(
    "says at boot what to do when it is over what a projection %s comes from",
    async (_of, projection, { code, words }) => {
      const { live } = startDepot();
      const link = inProcess(live);
      const error = { code, message: expect.stringContaining(words) };
      expect(() =>
        mcp(projection as typeof agent, { onFault: () => {} })
          .bridge(link)
          .open(),
      ).toThrow(expect.objectContaining(error));
      await live.close();
    },
  );

  it("says nothing of that when what it comes from is not there either", async () => {
    const other = defineSurface("other", { crates: cell({ schema: z.number() }) });
    const live = implementSurface(other, { crates: cellSource(1) });
    const error = { code: "UNKNOWN_MEMBER", message: expect.not.stringContaining("projected(") };
    expect(() => inProcess(live).check?.(agent)).toThrow(expect.objectContaining(error));
    await live.close();
  });
});
