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

describe("what a session's streams take", () => {
  it("is all that was granted to whoever has asked", () => {
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

  it("has all scopes when what the app asks for may be another tomorrow", () => {
    const session = open("tools");
    session.add(having(["ci:read", "hub:admin"]));
    expect(session.read(having(["ci:read"]))).toEqual(["ci:read", "hub:admin"]);
  });

  it("has what was granted of the application's things, which no scope makes good", () => {
    const session = open();
    session.add(having([], { "repo:web": ["write"], "repo:*": ["read"] }));
    expect(session.read(having([]))).toEqual([]);
    expect(session.read(having([], { "repo:web": ["read"], "repo:*": ["read"] }))).toEqual([]);
    expect(session.read(having([], { "repo:*": ["read"], "repo:web": ["write"] }))).toBeUndefined();
  });

  it("ends the reading of who lacks what somebody else has asked with", () => {
    const session = open();
    session.add(having(["ci:read"]));
    expect(session.read(having(["ci:read"]))).toBeUndefined();
    expect(session.add(having(["ci:read"], { "repo:web": [] }))).toBe(false);
    expect(session.add(having(["ci:read"], { "repo:web": ["write"] }))).toBe(true);
  });
});
