import { describe, expect, it } from "vitest";
import type { Caller } from "../../../src/surface/caller.ts";
import { acknowledged, ended, SessionHarness, updated } from "./session-harness.ts";

const known = (id: string, ...scopes: string[]): Caller => ({ id, isAnonymous: false, scopes });

function guarded(): SessionHarness {
  const harness = new SessionHarness({ "x://a": "open", "x://b": "open", "x://c": "open" });
  Object.assign(harness.resources.guarded, { "x://a": ["s:read"], "x://b": ["s:read", "b"], "x://c": ["s:read", "c"] });
  return harness;
}

const lacks = { kind: "error", code: -32011, message: "Insufficient scope" };

describe("SubscriptionSession, for a known caller", () => {
  it("refuses a legacy subscription whose URI requires more than they have, and watches nothing", () => {
    const harness = guarded();
    harness.caller = known("ann", "s:read");
    expect(harness.subscribe(1, "x://b")).toMatchObject([{ error: { code: lacks.code } }]);
    expect(harness.resources.count).toBe(0);
    expect(harness.subscribe(2, "x://a")).toMatchObject([{ id: 2, result: {} }]);
  });

  it("refuses a URI that an earlier token of theirs has subscribed to already", () => {
    const harness = guarded();
    harness.caller = known("ann", "s:read", "b");
    harness.subscribe(1, "x://b");
    harness.caller = known("ann", "s:read");
    expect(harness.subscribe(2, "x://b")).toMatchObject([{ error: { code: lacks.code } }]);
  });

  it("refuses a whole listen request when one URI requires more, and watches nothing of it", () => {
    const harness = guarded();
    harness.caller = known("ann", "s:read", "c");
    expect(harness.listen(1, "x://a", "x://b", "x://unknown", "x://c")).toMatchObject([
      { error: { code: lacks.code } },
    ]);
    expect(harness.resources.count).toBe(0);
  });

  it("names the scopes of all URIs of a listen request, so that one more consent is enough", () => {
    const harness = guarded();
    const answers: unknown[] = [];
    harness.onAnswer = (answer) => answers.push(answer);
    harness.caller = known("ann", "s:read", "c");
    harness.listen(1, "x://a", "x://b", "x://unknown", "x://c");
    const all = ["s:read", "b", "c"];
    expect(answers).toEqual([{ ...lacks, data: { scopes: all }, scopes: all }]);
    harness.subscribe(2, "x://b");
    const both = ["s:read", "b"];
    expect(answers.slice(1)).toEqual([{ ...lacks, data: { scopes: both }, scopes: both }]);
  });

  it("does not honour unknown URIs, as for every caller", () => {
    const harness = guarded();
    harness.caller = known("ann", "s:read");
    expect(harness.listen(1, "x://a", "x://unknown")).toEqual([acknowledged(1, { resourceSubscriptions: ["x://a"] })]);
    expect(harness.subscribe(2, "x://unknown")).toMatchObject([{ error: { code: -32002 } }]);
  });

  it("watches resources for the caller of each request, and the list for the caller of the handshake", () => {
    const harness = guarded();
    const [first, second] = [known("ann", "s:read"), known("ann", "s:read", "b")];
    harness.session.initialised(first);
    harness.caller = second;
    harness.subscribe(1, "x://b");
    expect(harness.resources.watchers).toEqual([first, second]);
  });

  it("requires nothing of an anonymous caller", () => {
    const harness = guarded();
    expect(harness.listen(1, "x://b")).toEqual([acknowledged(1, { resourceSubscriptions: ["x://b"] })]);
  });
});

describe("SubscriptionSession.close()", () => {
  it("sends an open listen request its result, and nothing after it", () => {
    const harness = guarded();
    harness.listen(1, "x://a");
    harness.session.close();
    expect(harness.take()).toEqual([ended(1)]);
    harness.resources.change("x://a");
    expect(harness.take()).toEqual([]);
    expect(harness.clock.pending).toBe(0);
  });

  it("sends it also while notifications are held back, and drops these", () => {
    const harness = guarded();
    harness.listen(1, "x://a");
    harness.session.setOutputFull(true);
    harness.resources.change("x://a");
    expect(harness.take()).toEqual([]);
    harness.session.close();
    expect(harness.take()).toEqual([ended(1)]);
  });
});

describe("SubscriptionSession.setOutputFull()", () => {
  it("keeps one notification for each URI, and no answer, while the output is full", () => {
    const harness = guarded();
    harness.subscribe(1, "x://a");
    harness.session.setOutputFull(true);
    for (let index = 0; index < 100; index += 1) harness.resources.change("x://a");
    expect(harness.subscribe(2, "x://b")).toMatchObject([{ id: 2, result: {} }]);
    harness.session.setOutputFull(false);
    expect(harness.take()).toEqual([updated("x://a")]);
  });

  it("accepts a first subscription while the output is full, and announces changes afterwards", () => {
    const harness = guarded();
    harness.session.setOutputFull(true);
    harness.clock.pass(30_000);
    expect(harness.subscribe(1, "x://a")).toMatchObject([{ id: 1, result: {} }]);
    expect(harness.resources.count).toBe(0);
    harness.session.setOutputFull(false);
    expect(harness.resources.count).toBe(1);
  });
});
