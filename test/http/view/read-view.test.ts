import { describe, expect, it } from "vitest";
import { type CallerView, anonymous } from "../../../src/surface/caller.ts";
import type { HttpRefusal } from "../../../src/http/respond.ts";
import { createViewReader, readView, withView } from "../../../src/http/read-view.ts";
import { withClient } from "../../../src/mcp/envelope.ts";

function read(target: string, agent?: string, reader = readView): CallerView | HttpRefusal | undefined {
  return reader({
    method: "POST",
    target,
    header: (name) => (name === "user-agent" ? agent : undefined),
    count: () => 1,
    body: (_maxBytes, done) => done("gone"),
  });
}

describe("the view of a request", () => {
  it.each<[string, string, object | undefined]>([
    ["there is no query", "/mcp", undefined],
    ["the query says something else", "/mcp?x=1", { surface: "default" }],
    ["it is named", "/mcp?surface=readonly", { surface: "readonly" }],
    ["it is empty", "/mcp?surface=", { surface: "default" }],
    ["it has no value", "/mcp?surface", { surface: "default" }],
    ["the first of two is empty", "/mcp?surface=&surface=b", { surface: "b" }],
    ["it is there twice with one value", "/mcp?surface=a&SURFACE=a", { surface: "a" }],
    ["other names look like its own from afar", "/mcp?product=x&surname=y", { surface: "default" }],
    ["something stands around it", "/mcp?x&surface=a&&y=%ZZ", { surface: "a" }],
    ["it has escapes", "/mcp?surface=caf%C3%A9", { surface: "café" }],
    ["it has a space", "/mcp?surface=a+b%20c%2B", { surface: "a b c+" }],
    ["it has an equals sign", "/mcp?surface=a=b", { surface: "a=b" }],
    ["it has a question mark", "/mcp?surface=a?surface=b", { surface: "a?surface=b" }],
    ["its own name is escaped", "/mcp?s%75rface=a", { surface: "a" }],
    ["its own name is in capitals", "/mcp?SURFACE=a&pROject=web", { surface: "a", project: "web" }],
    ["there is a name of something else", "/mcp?api_key=a&profile=b&s=c", { surface: "default" }],
    ["its own name cannot be read", "/mcp?surf%ZZce=a", { surface: "default" }],
    ["it begins with a byte order mark", "/mcp?surface=%EF%BB%BFa", { surface: "\uFEFFa" }],
    ["it is 256 bytes long", `/mcp?surface=${"%C3%A9".repeat(128)}`, { surface: "é".repeat(128) }],
    ["it is as a prototype is called", "/mcp?surface=__proto__", { surface: "__proto__" }],
    ["there is a project", "/mcp?project=web&surface=a", { surface: "a", project: "web" }],
    ["there is a project and no view", "/mcp?project=&project=web", { surface: "default", project: "web" }],
  ])("is read when %s", (_, target, view) => {
    expect(read(target)).toEqual(view);
  });

  it.each(["surfce=a", "surfaces=a", "SURFAC=a", "surf%61ec=a", "api_key=x&Projekt=web", "surface=a&surfacce=b"])(
    "is refused when its name is a slip: %s",
    (query) => {
      expect(read(`/mcp?${query}`)).toMatchObject({ status: 400, error: { code: -32602 } });
      expect(JSON.stringify(read(`/mcp?${query}`))).toMatch(/write \\"(surface|project)\\"/);
    },
  );

  it.each(["surface=a&surface=b", "SURFACE=a&surface=b", "surface=a&surf%61ce=b", "project=a&project=%ZZ"])(
    "is refused for a parameter with two values: %s",
    (query) => {
      expect(read(`/mcp?${query}`)).toMatchObject({ status: 400, error: { code: -32602 } });
      expect(JSON.stringify(read(`/mcp?${query}`))).toMatch(/two values of \\"(surface|project)\\"/);
    },
  );

  it.each<[string, string]>([
    ["an escape is cut off", "a%2"],
    ["an escape is none", "%ZZ"],
    ["an escape is of no UTF-8", "%FF"],
    ["a character is spelled longer than it is", "%C0%AF"],
    ["it is half of a surrogate pair", "%ED%A0%80"],
    ["it has a control character", "a%00b"],
    ["it has a line break", "a%0D%0Ax-injected:%201"],
    ["it has a control character of the second sort", "%C2%85"],
    ["it has a byte that is not escaped", "caf\u00e9"],
    ["it is 257 bytes long", "a".repeat(257)],
    ["it is 257 bytes long, of which few are characters", "%C3%A9".repeat(128) + "a"],
    ["it is 10 kB long", "secret".repeat(1700)],
  ])("is refused when %s", (_, value) => {
    for (const parameter of ["surface", "project"]) {
      const found = read(`/mcp?surface=&${parameter}=${value}`);
      expect(found).toMatchObject({ status: 400, error: { code: -32602 } });
      const text = JSON.stringify(found);
      expect(text).toContain(`\\"${parameter}\\"`);
      expect(text).not.toContain(value.slice(0, 12).padEnd(4, "\u0000"));
    }
  });

  it("has the bounded name of the client program", () => {
    expect(read("/mcp", "agent/1.0")).toEqual({ surface: "default", userAgent: "agent/1.0" });
    expect(read("/mcp", "")).toBeUndefined();
    expect(read("/mcp?surface=a", "x".repeat(5000))).toEqual({ surface: "a", userAgent: "x".repeat(512) });
  });

  it("is frozen", () => {
    expect(Object.isFrozen(read("/mcp?surface=a"))).toBe(true);
    expect(Object.isFrozen(read("/mcp", "agent/1.0"))).toBe(true);
  });
});

describe("the view of many requests", () => {
  it("is one object for each URL and program", () => {
    const reader = createViewReader();
    const first = read("/mcp?surface=a", "agent/1.0", reader);
    expect(read("/mcp?surface=a", "agent/1.0", reader)).toBe(first);
    expect(read("/mcp?surface=b", "agent/1.0", reader)).toEqual({ surface: "b", userAgent: "agent/1.0" });
    expect(read("/mcp?surface=a", "agent/2.0", reader)).toEqual({ surface: "a", userAgent: "agent/2.0" });
    expect(read("/mcp?surface=a", undefined, reader)).toEqual({ surface: "a" });
    expect(read("/mcp", undefined, reader)).toBeUndefined();
  });

  it("is refused each time for an invalid URL, also among many URLs", () => {
    const reader = createViewReader();
    for (let time = 0; time < 2; time += 1) {
      expect(read("/mcp?surfce=a", undefined, reader)).toMatchObject({ status: 400 });
      for (let at = 0; at < 600; at += 1) {
        expect(read(`/mcp?surface=v${at}`, undefined, reader)).toEqual({ surface: `v${at}` });
      }
      const long = "x".repeat(5000);
      expect(read("/mcp?surface=a", `${long}1`, reader)).toEqual({ surface: "a", userAgent: long.slice(0, 512) });
    }
  });
});

describe("a caller with a view and a client", () => {
  const view = Object.freeze({ surface: "a" });
  const client = { name: "agent", version: "1" };

  it("is one object for each view and client while callers are anonymous", () => {
    const caller = withView(anonymous, view);
    expect(caller).toEqual({ ...anonymous, view });
    expect(withView(anonymous, view)).toBe(caller);
    const named = withClient(caller, { ...client });
    expect(named).toEqual({ ...anonymous, view: { surface: "a", client } });
    expect(withClient(caller, { ...client })).toBe(named);
    expect(withClient(caller, { ...client, version: "2" }).view).toEqual({
      surface: "a",
      client: { ...client, version: "2" },
    });
    expect(withView(named, view)).toEqual(caller);
    expect(withView(named, undefined)).toEqual(anonymous);
  });

  it("keeps each caller's grants", () => {
    const granted = { ...anonymous, scopes: ["a"] };
    const alice = { id: "alice", isAnonymous: false, scopes: ["b"] };
    for (const caller of [anonymous, granted, alice, granted, anonymous]) {
      expect(withView(caller, view)).toEqual({ ...caller, view });
      expect(withClient(caller, client)).toEqual({ ...caller, view: { surface: "default", client } });
    }
  });
});
