import { afterEach, describe, expect, it } from "vitest";
import { type AddressedRequest, createAddressReader } from "../../src/http/addresses.ts";
import { bearer, httpHandler, type HttpHandler } from "../../src/http/index.ts";
import type { Fault } from "../../src/surface/fault.ts";
import { requestWith } from "./auth/setup.ts";
import { createDemo } from "./support/demo-app.ts";
import { modernPost } from "./support/modern-post.ts";

const last = (request: AddressedRequest) => request.header("X-Forwarded-For")?.split(",").at(-1);

function readFrom(forwarded: string | undefined, read: (request: AddressedRequest) => unknown = last): unknown {
  const header = (name: string) => (name === "x-forwarded-for" ? forwarded : undefined);
  // A program in plain JavaScript may return anything.
  const reader = createAddressReader(read as typeof last, () => {});
  return reader({ ...requestWith(), address: "127.0.0.1", header });
}

describe("the option clientAddress", () => {
  it.each([
    ["203.0.113.9", "203.0.113.9"],
    ["spoofed, 203.0.113.9", "203.0.113.9"],
    ["203.0.113.9:51234", "203.0.113.9"],
    ["[2001:db8::1]:443", "2001:db8::1"],
    ["2001:db8::1", "2001:db8::1"],
    ["", "127.0.0.1"],
    [undefined, "127.0.0.1"],
    ["9".repeat(200), "127.0.0.1"],
  ])("reads %j as %s", (forwarded, address) => {
    expect(readFrom(forwarded)).toBe(address);
  });

  it.each([() => 7, () => null, async () => Promise.reject(new Error("asynchronous"))])(
    "keeps the address of the connection when the function returns %s",
    (read) => {
      expect(readFrom("203.0.113.9", read)).toBe("127.0.0.1");
    },
  );

  it("keeps the address of the connection and reports once when the function throws", () => {
    const faults: Fault[] = [];
    const read = createAddressReader(
      () => {
        throw new Error("no such header");
      },
      (fault) => void faults.push(fault),
    );
    const request = { ...requestWith(), address: "127.0.0.1" };
    expect([read(request), read(request)]).toEqual(["127.0.0.1", "127.0.0.1"]);
    expect(faults).toMatchObject([{ where: expect.stringContaining('"clientAddress"') }]);
  });
});

describe("a handler with clientAddress", () => {
  const resource = "https://ci.example/mcp";
  let handler: HttpHandler | undefined;
  afterEach(() => handler?.close());

  it("does not delay one client for another's unknown tokens", async () => {
    let end: (() => void)[] = [];
    const verified: string[] = [];
    const verify = (token: string): Promise<undefined> => {
      verified.push(token);
      return new Promise((resolve) => end.push(() => resolve(undefined)));
    };
    const auth = bearer({ resource, verify });
    const made = httpHandler(createDemo().app, { auth, allowedHosts: ["ci.example"], clientAddress: last });
    handler = made;
    const ask = (address: string, token: string): Promise<Response> => {
      const request = new Request(resource, modernPost("tools/list"));
      request.headers.set("x-forwarded-for", address);
      request.headers.set("authorization", `Bearer ${token}`);
      return made(request);
    };
    const asked = Array.from({ length: 40 }, (_, at) => ask("203.0.113.9", `nonsense${at}`));
    asked.push(ask("203.0.113.10", "refreshed"));
    expect(verified.slice(32)).toEqual(["refreshed"]);
    while (end.length > 0) {
      const ended = end;
      end = [];
      for (const one of ended) one();
      await new Promise((resolve) => void setImmediate(resolve));
    }
    expect(new Set((await Promise.all(asked)).map(({ status }) => status))).toEqual(new Set([401]));
  });
});
