import { describe, expect, it } from "vitest";
import type { Caller } from "../../../src/surface/caller.ts";
import { SessionScopes } from "../../../src/http/sessions/session.ts";
import type { ListName } from "../../../src/mcp/lists.ts";

const scopes = { read: "ci:read", write: "ci:write", all: ["ci:read", "ci:write"] };

function open(...changing: readonly ListName[]): SessionScopes {
  return new SessionScopes({ scopes, changing: new Set(changing) });
}

function having(own: readonly string[], resources?: Caller["resources"]): Caller {
  return { id: "alice", isAnonymous: false, scopes: own, ...(resources === undefined ? {} : { resources }) };
}

describe("the grants that a session's streams require", () => {
  it("are those of all its requests", () => {
    const session = open();
    session.add(having(["ci:read"]));
    session.add(having(["ci:write"]));
    expect(session.read(having(["ci:read"]))).toEqual(["ci:read", "ci:write"]);
    expect(session.read(having(["ci:read", "ci:write"]))).toBeUndefined();
  });

  it("has nothing of scopes that the app does not ask for", () => {
    const session = open();
    session.add(having(["ci:read", "openid"]));
    expect(session.read(having(["ci:read"]))).toBeUndefined();
  });

  it("include all scopes when the app's requirements can change", () => {
    const session = open("tools");
    session.add(having(["ci:read", "hub:admin"]));
    expect(session.read(having(["ci:read"]))).toEqual(["ci:read", "hub:admin"]);
  });

  it("include resources, which no scope replaces", () => {
    const session = open();
    session.add(having([], { "repo:web": ["write"], "repo:*": ["read"] }));
    expect(session.read(having([]))).toEqual([]);
    expect(session.read(having([], { "repo:web": ["read"], "repo:*": ["read"] }))).toEqual([]);
    expect(session.read(having([], { "repo:*": ["read"], "repo:web": ["write"] }))).toBeUndefined();
  });

  it("end the stream of a token that lacks one", () => {
    const session = open();
    session.add(having(["ci:read"]));
    expect(session.read(having(["ci:read"]))).toBeUndefined();
    expect(session.add(having(["ci:read"], { "repo:web": [] }))).toBe(false);
    expect(session.add(having(["ci:read"], { "repo:web": ["write"] }))).toBe(true);
  });
});
