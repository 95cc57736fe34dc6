import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import * as z from "zod";
import { listenUnixSocket } from "../../src/links/unix-socket.ts";
import { defineSurface } from "../../src/surface/define-surface.ts";
import { implementSurface, implementSurfaces } from "../../src/surface/implement-surface.ts";
import { procedure } from "../../src/surface/define-members.ts";
import { badNames } from "../fixtures/bad-names.ts";
import { HandPeer, openPipe } from "../links/conformance/hand-peer.ts";
import { afterThis, newFolder } from "../links/unix/support.ts";

const echo = defineSurface("echo", { say: procedure({ output: z.string() }) });

const one = (name: string, value: unknown): object => Object.fromEntries([[name, value]]);
const member = { kind: "procedure", hash: "none" };

let path = "";
beforeEach(async () => {
  const live = implementSurface(echo, { say: () => "said" });
  afterThis(() => live.close());
  const served = implementSurfaces({ a: live });
  path = join(await newFolder(), "s");
  const listening = await listenUnixSocket(served, path);
  afterThis(() => listening.close());
});

async function dial(): Promise<HandPeer> {
  const peer = new HandPeer(await openPipe(path));
  afterThis(() => peer.pipe.cut());
  return peer;
}

describe("a server of siblings, greeted with names that have gone wrong before,", () => {
  it.each<[string, (name: string) => object]>([
    ["a segment", (name) => ({ surface: "any", segments: one(name, "echo"), members: one(`${name}.say`, member) })],
    ["what is under a segment", (name) => ({ surface: "any", segments: { a: name }, members: { "a.say": member } })],
    ["a surface", (name) => ({ surface: name, members: { say: member } })],
    ["a surface of segments", (name) => ({ surface: name, segments: { a: name }, members: {} })],
  ])("answers each, and still serves who greets it well, when they are %s", async (_what, toHello) => {
    const before = await dial();
    for (const name of badNames) {
      const peer = await dial();
      const { error, result } = await peer.request("surface/hello", { protocol: 1, ...toHello(name) });
      // Taken, where it is as good a name as any, or refused: in the protocol's words, and without those that were said.
      expect([name, result !== undefined || [-32_602, -32_000].includes(error?.code ?? 0)]).toEqual([name, true]);
      expect(error?.message ?? "").not.toContain(name.length > 2 ? name : "\u0000");
      peer.pipe.cut();
    }
    const hello = { protocol: 1, surface: "any", segments: { a: "echo" }, members: { "a.say": member } };
    await before.request("surface/hello", hello);
    const said = await before.request("surface/ask", { verb: "call", member: "a.say" });
    expect(said).toMatchObject({ result: { value: "said" } });
  });

  it("has no member of a name that it was not asked for, nor of one that every object has", async () => {
    const peer = await dial();
    const members = Object.fromEntries([...badNames, "say"].map((name) => [name, member]));
    const { result } = await peer.request("surface/hello", { protocol: 1, surface: "echo", members });
    expect(Object.keys((result as { members: object }).members)).toEqual(["say"]);
    for (const name of badNames) {
      const { error } = await peer.request("surface/ask", { verb: "call", member: name });
      expect([name, error?.code]).toEqual([name, expect.any(Number)]);
    }
    expect(await peer.request("surface/ask", { verb: "call", member: "say" })).toMatchObject({
      result: { value: "said" },
    });
  });
});
