import { join } from "node:path";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { childProcess } from "../../src/links/child-process.ts";
import { inProcess } from "../../src/links/in-process.ts";
import type { Connection, Link } from "../../src/links/link.ts";
import { projected } from "../../src/links/projected.ts";
import { ReconnectingSurface } from "../../src/links/reconnecting-surface.ts";
import { siblingLinks } from "../../src/links/sibling-links.ts";
import { listenUnixSocket, unixSocket } from "../../src/links/unix-socket.ts";
import { listenWebSocket, webSocket } from "../../src/links/web-socket.ts";
import { createClient } from "../../src/surface/create-client.ts";
import type { SurfaceClient } from "../../src/surface/client.ts";
import { composeSurfaces } from "../../src/surface/compose-surfaces.ts";
import { procedure } from "../../src/surface/define-members.ts";
import { defineSurface } from "../../src/surface/define-surface.ts";
import { derive } from "../../src/surface/derive/derive.ts";
import { projectSurface } from "../../src/surface/project-surface.ts";
import { bundleScript } from "../fixtures/bundle-script.ts";
import { echo, startEcho } from "./support/echo-surface.ts";
import { afterThis, newFolder } from "./unix/support.ts";

const fixture = await bundleScript(new URL("stdio/fixtures/server.ts", import.meta.url), "traced-link-server");

const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const trace = { traceparent, tracestate: "vendor=1", baggage: "tenant=blue" };

async function startHere(): Promise<ReturnType<typeof startEcho>["live"]> {
  const { live } = startEcho();
  afterThis(() => live.close());
  return live;
}

/** The client of a connection that ends with the test. */
async function clientOf<TSpec>(connecting: Promise<Connection<TSpec>>): Promise<SurfaceClient<TSpec>> {
  const connection = await connecting;
  afterThis(() => connection.close());
  return connection.client;
}

async function openUnix(): Promise<Link> {
  const path = join(await newFolder(), "s.sock");
  await listenUnixSocket(await startHere(), path);
  return unixSocket(path);
}

const links: readonly (readonly [string, () => Promise<Link>])[] = [
  ["in process", async () => inProcess(await startHere())],
  ["over a unix socket", openUnix],
  ["over a web socket", async () => webSocket((await listenWebSocket(await startHere(), { port: 0 })).url)],
  ["over standard input and output", async () => childProcess(process.execPath, [fixture, "plain"])],
];

const passed = defineSurface("passed", {
  derived: procedure({ output: z.unknown() }),
  silent: procedure({ output: z.unknown() }),
  explicit: procedure({ output: z.unknown() }),
});

const projection = projectSurface(echo, passed, (client) => ({
  derived: derive.procedure(client.traced),
  silent: () => client.traced.call(),
  explicit: (_input, context) => client.traced.call(undefined, { trace: context.trace }),
}));

describe.each(links)("the trace context of a call %s", (_where, open) => {
  it("is the one that the client passes, and a frozen object", async () => {
    const client = await clientOf((await open()).connect(echo));
    expect(await client.traced.call(undefined, { trace })).toEqual(trace);
    expect(await client.traced.call(undefined, { trace: { traceparent } })).toEqual({ traceparent });
  });

  it("is none if the client passes none, or a malformed one", async () => {
    const client = await clientOf((await open()).connect(echo));
    const malformed = [undefined, { traceparent: "00-xyz" }, { traceparent: `${traceparent}${"0".repeat(10_000)}` }, 7];
    for (const given of malformed)
      expect(await client.traced.call(undefined, { trace: given as { traceparent: string } })).toBeNull();
  });

  it("loses fields that are malformed, too long or unknown", async () => {
    const client = await clientOf((await open()).connect(echo));
    const more = { tracestate: `a=${"b".repeat(1000)}`, baggage: `a=${"b".repeat(9000)}`, password: "x" };
    expect(await client.traced.call(undefined, { trace: { traceparent, ...more } })).toEqual({ traceparent });
  });

  it("is sent by a held connection, and by siblings", async () => {
    const held = new ReconnectingSurface({ link: await open(), surface: echo });
    afterThis(() => held.close());
    expect(await createClient(echo, held.channel).traced.call(undefined, { trace })).toEqual(trace);
    const siblings = siblingLinks({ near: await open(), far: await open() });
    const client = await clientOf(siblings.connect(composeSurfaces("both", { near: echo, far: echo })));
    expect(await client["far.traced"].call(undefined, { trace })).toEqual(trace);
  });

  it("is passed on by a projection's derived procedure, and by a handler only if it names the trace", async () => {
    const client = await clientOf(projected(projection, await open()).connect(passed));
    expect(await client.derived.call(undefined, { trace })).toEqual(trace);
    expect(await client.explicit.call(undefined, { trace })).toEqual(trace);
    expect(await client.silent.call(undefined, { trace })).toBeNull();
  });
});
