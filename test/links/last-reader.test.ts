import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { inProcess } from "../../src/links/in-process.ts";
import type { Link } from "../../src/links/link.ts";
import { projected } from "../../src/links/projected.ts";
import { listenUnixSocket, unixSocket } from "../../src/links/unix-socket.ts";
import { composeSurfaces } from "../../src/surface/compose-surfaces.ts";
import { defineSurface, type Surface } from "../../src/surface/define-surface.ts";
import { derive } from "../../src/surface/derive/derive.ts";
import { event, stream } from "../../src/surface/define-members.ts";
import { implementSurface, implementSurfaces } from "../../src/surface/implement-surface.ts";
import type { Spec } from "../../src/surface/member.ts";
import { projectSurface } from "../../src/surface/project-surface.ts";
import { Pushed } from "../surface/owner/pushed.ts";
import { settle, until } from "../surface/support.ts";
import { operationsOf, type Uses } from "../surface/uses-of.ts";
import { afterThis, newFolder } from "./unix/support.ts";
import * as z from "zod";

const input = z.object({ node: z.string() });
const members = { lines: stream({ input, output: z.number() }), alarms: event({ input, output: z.number() }) };
const log = defineSurface("log", members);
const copy = projectSurface(log, defineSurface("copy", members), (client) => ({
  lines: derive.stream(client.lines, (line) => line),
  alarms: derive.event(client.alarms, (alarm) => alarm),
}));
const siblings = composeSurfaces("siblings", { log });
const node = { node: "a" };

/** A way to a surface whose handlers count how many of them run. */
interface Way {
  readonly handlers: Pushed<number>;
  readonly link: Link;
  readonly surface: Surface<Spec>;
  /** Precedes the keys of its members. @default "" */
  readonly prefix?: string;
  /** Whether its events ask upstream again and again, so that the last listener leaves a last question. @default false */
  readonly isAsking?: boolean;
}

function start() {
  const handlers = new Pushed<number>();
  const run = (_input: unknown, { signal }: { readonly signal: AbortSignal }) => handlers.run(signal);
  const live = implementSurface(log, { lines: run, alarms: run });
  afterThis(() => live.close());
  return { handlers, live };
}

async function startOverSocket() {
  const { handlers, live } = start();
  const path = join(await newFolder(), "s.sock");
  await listenUnixSocket(live, path);
  return { handlers, link: unixSocket(path) };
}

const ways: readonly (readonly [string, () => Promise<Way>])[] = [
  [
    "in process",
    async () => {
      const { handlers, live } = start();
      return { handlers, link: inProcess(live), surface: log };
    },
  ],
  ["over a Unix socket", async () => ({ ...(await startOverSocket()), surface: log })],
  [
    "by a projection of a surface behind a Unix socket",
    async () => {
      const { handlers, link } = await startOverSocket();
      return { handlers, link: projected(copy, link), surface: copy, isAsking: true };
    },
  ],
  [
    "as one of several siblings",
    async () => {
      const { handlers, live } = start();
      return { handlers, link: inProcess(implementSurfaces({ log: live })), surface: siblings, prefix: "log." };
    },
  ],
];

interface Listen {
  /** How many handlers run for two listeners. */
  readonly handlers: 1 | 2;
  readonly open: (uses: Uses, prefix: string, signal: AbortSignal) => AsyncIterable<unknown>;
}

const listens: Readonly<Record<string, Listen>> = {
  "open() of a stream": {
    handlers: 2,
    open: (uses, prefix, signal) => uses.open(`${prefix}lines`, node, { signal }),
  },
  "watchLatest() of a stream": {
    handlers: 1,
    open: (uses, prefix, signal) => uses.watchLatest(`${prefix}lines`, node, { signal }),
  },
  "watchRecent() of an event": {
    handlers: 1,
    open: (uses, prefix, signal) => uses.watchRecent(`${prefix}alarms`, node, { signal }),
  },
};

async function connect([, open]: (typeof ways)[number]) {
  const { link, surface, prefix = "", ...way } = await open();
  const connection = await link.connect(surface);
  afterThis(() => connection.close());
  return { ...way, uses: operationsOf(connection.channel), prefix };
}

/** Lets seconds pass by a fake clock, and whatever is due in them. */
async function pass(seconds: number): Promise<void> {
  for (let passed = 0; passed < seconds; passed += 1) {
    vi.advanceTimersByTime(1000);
    await settle();
  }
}

afterEach(() => {
  vi.useRealTimers();
});

describe.each(ways)("handlers with an input, %s", (...way) => {
  it.each(Object.entries(listens))("end with the last listener, for %s", async (_name, listen) => {
    const { handlers, uses, prefix, isAsking = false } = await connect(way);
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const leave = [new AbortController(), new AbortController()];
    const listening = leave.map(({ signal }) => listen.open(uses, prefix, signal)[Symbol.asyncIterator]().next());
    await until(() => handlers.running === listen.handlers, "the handlers");
    leave[0]?.abort();
    await until(() => handlers.running === 1, "the end of one listener");
    leave[1]?.abort();
    await settle();
    // Over a socket the last question may end after some seconds of the fake clock.
    for (let left = isAsking ? 120 : 0; left > 0 && handlers.running > 0; left -= 1) await pass(1);
    await until(() => handlers.running === 0, "the end of the handler");
    expect(handlers.opened).toBe(listen.handlers);
    await Promise.allSettled(listening);
  });

  it("run for 30 seconds after the last question, and then end", async () => {
    const { handlers, uses, prefix } = await connect(way);
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const asking = uses.latest(`${prefix}lines`, node, {});
    await until(() => handlers.running === 1, "the handler");
    handlers.push(1);
    expect(await asking).toBe(1);
    await pass(29);
    expect(handlers.running).toBe(1);
    await pass(1);
    await until(() => handlers.running === 0, "the end of the handler");
  });
});
