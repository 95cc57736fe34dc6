import { describe, expect, it } from "vitest";
import { isJsonType } from "../../src/http/body.ts";
import { decodeHeaderValue, HostList, OriginList, acceptsType } from "../../src/http/check-head.ts";

describe("a list of hosts", () => {
  const hosts = new HostList(["localhost", "127.0.0.1", "[::1]", "ci.example:8443", "App.example"]);

  it.each(["localhost", "LOCALHOST:80", "127.0.0.1:4000", "[::1]", "[::1]:1", "ci.example:8443", "app.example:9"])(
    "has %s",
    (host) => {
      expect(hosts.has(host)).toBe(true);
    },
  );

  it.each([
    "",
    "localhost.",
    "localhost.:80",
    "localhost.evil.example",
    "evil.localhost",
    "127.0.0.1.evil.example",
    "127.0.0.1.nip.io",
    "127.1",
    "2130706433",
    "0.0.0.0",
    "[::]",
    "::1",
    "[::1",
    "[::1].evil",
    "localhost@evil.example",
    "evil.example@localhost",
    "localhost:",
    "localhost:80:80",
    "localhost:port",
    "localhost:123456",
    "localhost/",
    "localhost#",
    " localhost",
    "localhost, localhost",
    "local\u212Aost",
    "ci.example",
    "ci.example:443",
    "ci.example:84430",
  ])('does not have "%s"', (host) => {
    expect(hosts.has(host)).toBe(false);
  });
});

describe("a list of origins", () => {
  const loopback = new OriginList("loopback");
  const listed = new OriginList(["https://app.example", "null"]);

  it.each(["http://localhost", "https://localhost:1", "http://127.0.0.1:5173", "http://[::1]:80"])(
    "of this machine has %s",
    (origin) => {
      expect(loopback.has(origin)).toBe(true);
      expect(listed.has(origin)).toBe(false);
    },
  );

  it.each([
    "null",
    "",
    "file://",
    "http://localhost.evil.example",
    "http://127.0.0.1.nip.io",
    "http://localhost@evil.example",
    "http://evil.example#localhost",
    "http://localhost:80@evil.example",
    "http://localhost/",
    "http://localhost.",
    "ftp://localhost",
    "chrome-extension://localhost",
    "http://localhost, http://localhost",
    "https://app.example.evil.example",
    "https://app.example:444",
    "http://app.example",
  ])('does not have "%s"', (origin) => {
    expect(loopback.has(origin)).toBe(false);
    expect(listed.has(origin)).toBe(false);
  });

  it("has its members in any case", () => {
    expect(listed.has("https://app.example")).toBe(true);
    expect(listed.has("HTTPS://App.example")).toBe(true);
  });
});

describe("a content type", () => {
  it.each([
    "application/json",
    "Application/JSON",
    "application/json;charset=utf-8",
    'application/json; charset="UTF-8"',
    "application/json; profile=x; charset=utf8",
  ])("is JSON as %s", (type) => {
    expect(isJsonType(type)).toBe(true);
  });

  it.each([
    undefined,
    "",
    "text/plain",
    "text/plain; application/json",
    "application/jsonx",
    "application/json-patch+json",
    "application/json, text/plain",
    "application/json; charset=utf-16",
    "application/json; charset=utf-8; charset=latin1",
    'application/json; charset="utf-16"',
    "multipart/form-data; boundary=application/json",
  ])("is not JSON as %s", (type) => {
    expect(isJsonType(type)).toBe(false);
  });
});

describe("an Accept header", () => {
  it.each<[string | undefined, boolean]>([
    [undefined, true],
    ["*/*", true],
    ["application/*;q=0.1", true],
    ["text/event-stream, Application/JSON", true],
    ["application/json;q=1", true],
    ["application/json;q=0.001", true],
    ["application/json;q=0.000", false],
    ["text/event-stream", false],
    ["application/jsonp", false],
    ["", false],
  ])("%s: JSON is %s", (accept, isAccepted) => {
    expect(acceptsType(accept, "application/json")).toBe(isAccepted);
  });
});

describe("a header that mirrors the body", () => {
  it.each<[string, string | undefined]>([
    ["echo", "echo"],
    [" echo\t", "echo"],
    ["", ""],
    ["=?base64?ZWNobw==?=", "echo"],
    ["=?base64?w7w=?=", "ü"],
    ["=?base64??=", ""],
    ["=?base64?ZWNobw==", "=?base64?ZWNobw=="],
    ["=?base64?77u/ZQ==?=", "\ufeffe"],
    ["=?base64?@@@?=", undefined],
    ["=?base64?ZWNobw?=", undefined],
    ["=?base64?ZWNo bw==?=", undefined],
    ["=?base64?/w==?=", undefined],
    ["ech\u00f6", undefined],
    ["echo\u00a0", undefined],
    ["echo\u0000", undefined],
    ["echo\r\nx", undefined],
  ])("%j says %j", (value, said) => {
    expect(decodeHeaderValue(value)).toBe(said);
  });
});
