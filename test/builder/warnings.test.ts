import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { mcp } from "../../src/builder/mcp.ts";
import { operationRegistry } from "../../src/catalog/mounts/operation-registry.ts";
import { cellSource } from "../../src/surface/source.ts";
import type { ViewRules } from "../../src/views/view-rules.ts";
import { counter, deadLink } from "./support.ts";

const handler = (): number => 1;

describe("the warnings of an app", () => {
  const warned = vi.spyOn(console, "error");
  const told = (): readonly string[] =>
    warned.mock.calls.flat().map((line) => String(line).replace("[surface-mcp] warning: ", ""));
  beforeEach(() => void warned.mockReset().mockReturnValue());
  afterEach(() => void warned.mockReset());

  it("refuse an unknown name in canCall, with similar names", () => {
    const app = mcp(counter)
      .bridge(deadLink())
      .mount("hub", operationRegistry())
      .tools({ outer: { canCall: ["hub.a", "h*", "inner", "iner"], handler }, inner: { handler } });
    expect(() => app.open()).toThrow(
      'Cannot add tool "outer": its "canCall" has "iner", which is not a tool of this app; near it are "inner"',
    );
  });

  it("name a pattern in canCall that matches nothing, at boot", async () => {
    const app = mcp(counter)
      .bridge(deadLink())
      .mount("hub", operationRegistry())
      .tools({
        outer: { canCall: ["ine?r", "hub.a", "h*", "inner", "outer", "zzz*"], handler },
        inner: { handler },
      });
    const runtime = app.open();
    expect(told()).toEqual([
      'the pattern "ine?r" in "canCall" of tool "outer" matches nothing; near it are "inner"',
      'the pattern "zzz*" in "canCall" of tool "outer" matches nothing',
    ]);
    await runtime.close();
  });

  it("name a read-only tool without callScopes that calls only mutating tools", async () => {
    const app = mcp(counter)
      .bridge(deadLink())
      .tools({
        outer: { canCall: ["inner"], mutates: false, handler },
        said: { canCall: ["inner"], mutates: false, callScopes: ["counter:write"], handler },
        both: { canCall: ["*"], mutates: false, handler },
        writes: { canCall: ["inner"], handler },
        inner: { handler },
      });
    const runtime = app.open();
    expect(told()).toEqual([
      'tool "outer" may call no tool that its "canCall" matches: for "inner", its "callScopes" must have "counter:write", and has "counter:read"',
    ]);
    await runtime.close();
  });

  it("name unmatched patterns of replaced rules once each", async () => {
    const allowing = (...allow: string[]): ViewRules => [{ id: "a", verdict: { kind: "tool_surface", allow } }];
    const rules = cellSource(allowing("first"));
    const runtime = mcp(counter).bridge(deadLink()).tools({ inner: { handler } }).views(rules).open();
    const first = 'the pattern "first" in "allow" of rule "a" of packet "views" matches nothing';
    expect(told()).toEqual([first]);
    rules.set(allowing("first", "inner", "second"));
    rules.set(allowing("second"));
    expect(told()).toEqual([first, first.replace("first", "second")]);
    await runtime.close();
    rules.set(allowing("third"));
    expect(told()).toHaveLength(2);
  });
});
