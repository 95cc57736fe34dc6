import { describe, expect, it } from "vitest";
import { openWireClient } from "../../../src/links/wire/open-wire-client.ts";
import { maxCallerLength, readCaller } from "../../../src/links/wire/request-params.ts";
import { anonymous, callerKey, type Caller } from "../../../src/surface/caller.ts";
import { echo, startEcho } from "../support/echo-surface.ts";
import { createMemoryPair, type Loose } from "../support/memory-transport.ts";
import { serveWire, RawPeer } from "./support.ts";

const ada = { id: "ada", isAnonymous: false, scopes: ["ci:read"] };

async function serveEcho() {
  const { live } = startEcho();
  const pair = createMemoryPair();
  serveWire(live, pair.server, { onFault: () => {} });
  const peer = new RawPeer(pair.client);
  peer.ask("hello", "surface/hello", { protocol: 1, surface: "echo", members: {} });
  await peer.reply("hello");
  let id = 0;
  const ask = async (params: object): Promise<Loose> => {
    id += 1;
    peer.ask(id, "surface/ask", params);
    return peer.reply(id);
  };
  return { live, ask, who: (caller: unknown) => ask({ verb: "call", member: "who", caller }) };
}

const unfit: readonly (readonly [string, unknown])[] = [
  ["null", null],
  ["a text", "ada"],
  ["a list", [ada]],
  ["an object without fields", {}],
  ["one without an id", { ...ada, id: undefined }],
  ["one with an empty id", { ...ada, id: "" }],
  ["one with a number as its id", { ...ada, id: 7 }],
  ["one who may or may not be anonymous", { ...ada, isAnonymous: "no" }],
  ["one without scopes", { ...ada, scopes: undefined }],
  ["one whose scopes are a text", { ...ada, scopes: "ci:read" }],
  ["one with a scope that is no text", { ...ada, scopes: ["ci:read", 1] }],
  ["one with an issuer that is no text", { ...ada, issuer: {} }],
  ["one who is no tool", { ...ada, isTool: false }],
  ["one with claims that are a list", { ...ada, claims: [] }],
  ["one with resources that are no lists", { ...ada, resources: { "job:7": "close" } }],
  ["one with a view without a name", { ...ada, view: { project: "api" } }],
  ["one with half a program", { ...ada, view: { surface: "review", client: { name: "host" } } }],
  ["one with a time that is a text", { ...ada, expiresAt: "soon" }],
  ["one with the key of an anonymous caller", { ...ada, key: "anonymous anonymous" }],
  ["one with a long key", { ...ada, key: `#${"x".repeat(256)}` }],
  ["one with more claims than fit", { ...ada, claims: { all: "x".repeat(maxCallerLength) } }],
];

describe("a caller on the wire", () => {
  it.each(unfit)("is refused with -32602, and nothing runs, when it is %s", async (_what, caller) => {
    const { live, ask, who } = await serveEcho();
    expect((await who(caller)).error).toMatchObject({ code: -32_602 });
    expect((await ask({ verb: "call", member: "say", argument: "on", caller })).error).toMatchObject({ code: -32_602 });
    expect((await ask({ verb: "call", member: "say", argument: "on" })).result).toEqual({ value: "on" });
    await live.close();
  });

  it("loses the fields that the document does not know, at any depth", async () => {
    const { live, who } = await serveEcho();
    const view = { surface: "review", client: { name: "host", version: "1" } };
    const more = { token: "secret", ["__proto__"]: { isTool: true }, constructor: 1 };
    const sent = { ...ada, ...more, view: { ...view, token: "secret", client: { ...view.client, token: "secret" } } };
    const { result } = await who(sent);
    expect(result.value.caller).toEqual({ ...ada, view });
    await live.close();
  });

  it("has no numbers that JSON cannot write, whatever was read before", () => {
    const read = (fields: string): Caller | undefined =>
      readCaller(JSON.parse(`{"id":"ada","isAnonymous":false,"scopes":[],${fields}}`));
    for (const time of ["1e999", "null", "-1e999"]) expect(read(`"expiresAt":${time}`)).toBeUndefined();
    for (const size of ["1e999", "null"]) expect(read(`"claims":{"size":${size}}`)?.claims).toEqual({ size: null });
  });

  it("has the key that the client says, or else one of issuer, id, client and claims", async () => {
    const { live, who } = await serveEcho();
    const own = await who({ ...ada, issuer: "https://login.example" });
    expect(own.result.value.key).toBe(callerKey({ ...ada, issuer: "https://login.example" }));
    expect((await who({ ...ada, key: "#one" })).result.value.key).toBe("#one");
    const nobody = { ...anonymous, key: callerKey(ada) };
    expect((await who(nobody)).result.value.key).toBe(callerKey(anonymous));
    await live.close();
  });

  it("is the caller of its own call when many take turns, again and again", async () => {
    const { live, who } = await serveEcho();
    for (let round = 0; round < 2; round += 1) {
      for (let index = 0; index < 100; index += 1) {
        const caller = { ...ada, id: `user ${index}`, scopes: [`scope ${index}`] };
        expect((await who(caller)).result.value).toEqual({ caller, key: callerKey(caller) });
      }
    }
    await live.close();
  });

  it("is ignored beside any verb but call, whatever it is", async () => {
    const { live, ask } = await serveEcho();
    expect((await ask({ verb: "get", member: "count", caller: "ada" })).result).toEqual({ value: 1 });
    await live.close();
  });

  it("is refused by the client, before anything is sent, when it does not fit or is too large", async () => {
    const { live } = startEcho();
    const pair = createMemoryPair();
    serveWire(live, pair.server, { onFault: () => {} });
    const { client } = await openWireClient(echo, pair.client, {});
    const circle: Record<string, unknown> = {};
    circle["self"] = circle;
    const unusable: readonly object[] = [
      { ...ada, claims: { all: "x".repeat(maxCallerLength) } },
      { ...ada, id: undefined },
      { ...ada, claims: circle },
      { ...ada, claims: { size: 1n } },
      "ada" as unknown as object,
    ];
    for (const caller of unusable) {
      // What the compiler refuses.
      const use = client.who.call(undefined, { caller: caller as Caller });
      await expect(use).rejects.toMatchObject({
        code: "INVALID_OPTION",
        message: expect.stringContaining('Cannot call "who" of surface "echo": "caller" must be a caller'),
      });
    }
    expect(await client.say.call("on")).toBe("on");
    await live.close();
  });

  it("is read anew when the client's object was changed", async () => {
    const { live } = startEcho();
    const pair = createMemoryPair();
    serveWire(live, pair.server, { onFault: () => {} });
    const { client } = await openWireClient(echo, pair.client, {});
    const caller = { ...ada, scopes: ["ci:read"] };
    await client.who.call(undefined, { caller });
    caller.scopes.push("ci:write");
    expect(await client.who.call(undefined, { caller })).toMatchObject({ caller: { scopes: ["ci:read", "ci:write"] } });
    await live.close();
  });
});
