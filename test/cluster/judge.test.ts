import { describe, expect, it } from "vitest";
import { judgeMessage, subscriptionIdKey } from "./judge-message.ts";
import { judgeMutations, judgeValues, type Mutation, type Outcome } from "./judge.ts";

const mutation = (outcome: Outcome, count?: number, ids: readonly string[] = ["a"]): Mutation => {
  return { ids, outcome, count, told: "" };
};
const checks = (mutations: readonly Mutation[], ledger: readonly string[]) =>
  judgeMutations(mutations, ledger).map(({ check }) => check);

describe("the judge of the chaos run of a cluster", () => {
  it.each([
    { what: "an entry twice", mutations: [mutation("answered", 1)], ledger: ["a", "a"], expected: ["doubled"] },
    {
      what: "an entry of a lost answer twice",
      mutations: [mutation("lost")],
      ledger: ["a", "b", "a"],
      expected: ["doubled"],
    },
    {
      what: "an answered call without its entry",
      mutations: [mutation("answered", 1)],
      ledger: ["b"],
      expected: ["lost write"],
    },
    {
      what: "an answered import without one entry",
      mutations: [mutation("answered", 2, ["a", "b"])],
      ledger: ["a", "c"],
      expected: ["lost write"],
    },
    {
      what: "an answer to another call",
      mutations: [mutation("answered", 2)],
      ledger: ["a", "b"],
      expected: ["wrong answer"],
    },
    { what: "an answer without a count", mutations: [mutation("answered")], ledger: ["a"], expected: ["wrong answer"] },
    {
      what: "an entry of a refused call",
      mutations: [mutation("refused")],
      ledger: ["a"],
      expected: ["refused write"],
    },
  ])("finds $what", ({ mutations, ledger, expected }) => {
    expect(checks(mutations, ledger)).toEqual(expected);
  });

  it.each([
    {
      what: "answered calls",
      mutations: [mutation("answered", 1), mutation("answered", 3, ["b", "c"])],
      ledger: ["a", "b", "c"],
    },
    { what: "a lost answer of a call that ran", mutations: [mutation("lost")], ledger: ["a"] },
    { what: "a lost answer of a call that did not run", mutations: [mutation("lost")], ledger: [] },
    {
      what: "a part of an import with an unknown outcome",
      mutations: [mutation("failed", undefined, ["a", "b"])],
      ledger: ["a"],
    },
    { what: "a refused call", mutations: [mutation("refused")], ledger: [] },
  ])("accepts $what", ({ mutations, ledger }) => {
    expect(checks(mutations, ledger)).toEqual([]);
  });

  it("finds a client that knows an old value", () => {
    expect(judgeValues([{ name: "ada", value: "1", expected: "2" }])).toMatchObject([{ check: "stale" }]);
    expect(judgeValues([{ name: "ada", value: "2", expected: "2" }])).toEqual([]);
  });

  it("tells messages of other clients from its own", () => {
    const client = { name: "ada", uri: "surface://ledger/count", total: 30 };
    const judge = (method: string, params: object) => judgeMessage({ jsonrpc: "2.0", method, params }, client);
    expect(judge("notifications/resources/updated", { uri: client.uri })).toBe("notice");
    expect(judge("notifications/progress", { progress: 1, total: 30 })).toBeUndefined();
    expect(judge("notifications/resources/updated", { uri: "surface://ledger/entries" })).toContain("was notified of");
    expect(judge("notifications/progress", { progress: 1, total: 31 })).toContain("31 entries");
  });

  it("tells messages of other clients from those of a client that only watches", () => {
    const client = { name: "ada", uri: "surface://ledger/count", total: undefined, subscriptionId: "ada" };
    const judge = (method: string, params: object) => judgeMessage({ jsonrpc: "2.0", method, params }, client);
    const updated = (subscription: string) => ({ uri: client.uri, _meta: { [subscriptionIdKey]: subscription } });
    expect(judge("notifications/resources/updated", updated("ada"))).toBe("notice");
    expect(judge("notifications/resources/updated", updated("bob"))).toContain("by the subscription bob");
    expect(judge("notifications/resources/updated", { uri: client.uri })).toContain("by the subscription undefined");
    expect(judge("notifications/progress", { progress: 1, total: 31 })).toContain("31 entries");
    expect(judge("notifications/progress", { progress: 1 })).toContain("undefined entries");
  });
});
