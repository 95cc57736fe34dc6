import { describe, expect, it } from "vitest";
import { checkHistory } from "./check-history.ts";
import { findStaleReads } from "./find-stale-reads.ts";
import type { Answer, Asked, CycleHistory } from "./history.ts";
import { cellUris } from "./surface.ts";

const strike = { kind: "kill", at: 100, overAt: 110 } as const;

/** A cycle in which nothing is wrong: the backend is killed at 100, and the next one is there at 200. */
const sound: CycleHistory = {
  cycle: 0,
  way: "unix",
  asked: [
    ask("r", "read", [{ at: 20, outcome: "ok" }]),
    ask("m1", "mutation", [{ at: 20, outcome: "ok" }]),
    ask("m2", "mutation", [{ at: 111, outcome: "OUTCOME_UNKNOWN" }]),
    ask("m3", "mutation", [{ at: 112, outcome: "OUTCOME_UNKNOWN" }]),
    ask("m4", "mutation", [{ at: 120, outcome: "UNAVAILABLE" }]),
  ],
  journal: [
    { what: "taken", id: "m1" },
    { what: "applied", id: "m1" },
    { what: "taken", id: "m2" },
    { what: "taken", id: "m3" },
    { what: "applied", id: "m3" },
  ],
  strikes: [strike],
  restarts: [{ gen: 2, at: 111, listeningAt: 200 }],
  views: [{ name: "a", uri: "a", joins: [5], notices: [210, 310], reads: [{ at: 311, text: "2" }], text: "2" }],
  rings: [
    { at: 10, rung: { gen: 1, n: 4 }, missed: 0, isReset: false },
    { at: 20, missed: 0, isReset: false },
    { at: 30, rung: { gen: 1, n: 7 }, missed: 2, isReset: false },
    { at: 220, missed: 0, isReset: true },
    { at: 230, rung: { gen: 2, n: 9 }, missed: 0, isReset: false },
    { at: 240, rung: { gen: 2, n: 10 }, missed: 0, isReset: false },
  ],
  finals: [{ uri: "a", text: "2", changedAt: 300 }],
  lastReads: new Map([["a", "2"]]),
  strays: [],
  inFlight: 100,
};

function ask(id: string, sort: Asked["sort"], came: Answer[]): Asked {
  return { id, sort, what: `what ${id}`, at: 10, deadlineMs: 5000, answers: came };
}

/** The next backend is heard of at 240. */
const ofNext: Asked = { ...ask("n", "read", [{ at: 240, outcome: "ok", stamp: { gen: 2, n: 1 } }]), at: 230 };

/** The sound cycle with one request in another's place, or more of them. */
function withAsked(...changed: readonly Asked[]): CycleHistory {
  const ids = new Set(changed.map(({ id }) => id));
  return { ...sound, asked: [...sound.asked.filter(({ id }) => !ids.has(id)), ...changed] };
}

function withJournal(...more: CycleHistory["journal"]): CycleHistory {
  return { ...sound, journal: [...sound.journal, ...more] };
}

function withView(view: Partial<CycleHistory["views"][number]>): CycleHistory {
  return { ...sound, views: sound.views.map((each) => ({ ...each, ...view })) };
}

function withRing(ring: Partial<CycleHistory["rings"][number]>): CycleHistory {
  return { ...sound, rings: [...sound.rings, { at: 250, missed: 0, isReset: false, ...ring }] };
}

describe("checkHistory()", () => {
  it("finds nothing when nothing is wrong", () => {
    expect(checkHistory(sound)).toEqual([]);
  });

  it("judges no reads when the next backend was not there in time", () => {
    const slow = {
      ...withAsked(ask("r", "read", answers(5011, "ok"))),
      restarts: [{ gen: 2, at: 111, listeningAt: 4000 }],
    };
    expect(checkHistory(slow)).toEqual([]);
  });

  it.each<[what: string, history: CycleHistory, found: string]>([
    ["a read is never answered", withAsked(ask("r", "read", [])), "one answer: r"],
    ["a mutation is never answered", withAsked(ask("m1", "mutation", [])), "one answer: m1"],
    [
      "a read is answered twice",
      withAsked(ask("r", "read", [...answers(20, "ok"), ...answers(21, "ok")])),
      "one answer: r",
    ],
    ["a read fails", withAsked(ask("r", "read", answers(20, "UNAVAILABLE"))), "no failed read: r"],
    ["a wait fails", withAsked(ask("w", "wait", answers(20, "INTERNAL"))), "no failed read: w"],
    ["a read takes too long", withAsked(ask("r", "read", answers(5011, "ok"))), "no failed read: r"],
    ["a read goes back to a former backend", withAsked(ofNext, readOf(1, 241)), "no read of the past: r"],
    [
      "a read tells less than a mutation before it had done",
      withAsked(
        { ...ask("m1", "mutation", [{ at: 9, outcome: "ok", stamp: { gen: 2, n: 2 } }]), at: 1 },
        { ...readOf(2, 112), what: cellUris.count },
      ),
      "own writes are read: r",
    ],
    ["a mutation is applied twice", withJournal({ what: "applied", id: "m1" }), "mutations: m1"],
    ["a mutation is sent twice", withJournal({ what: "taken", id: "m2" }), "mutations: m2"],
    [
      "an unknown mutation is applied twice",
      withJournal({ what: "applied", id: "m3" }, { what: "applied", id: "m3" }),
      "mutations: m3",
    ],
    ["a mutation is applied that nobody has asked", withJournal({ what: "applied", id: "old" }), "mutations: old"],
    ["a mutation was answered and never applied", withAsked(ask("m5", "mutation", answers(20, "ok"))), "mutations: m5"],
    ["a mutation was taken up and said not to be sent", withJournal({ what: "taken", id: "m4" }), "mutations: m4"],
    [
      "a mutation that was cut is said not to be sent",
      withAsked(ask("m2", "mutation", answers(111, "UNAVAILABLE"))),
      "mutations: m2",
    ],
    [
      "a mutation is unknown before the strike",
      withAsked(ask("m2", "mutation", answers(99, "OUTCOME_UNKNOWN"))),
      "mutations: m2",
    ],
    [
      "a mutation is unknown after the strike",
      withAsked({ ...ask("m5", "mutation", answers(300, "OUTCOME_UNKNOWN")), at: 210 }),
      "mutations: m5",
    ],
    ["a mutation fails otherwise", withAsked(ask("m2", "mutation", answers(111, "DISCONNECTED"))), "mutations: m2"],
    ["the last change is not announced", withView({ notices: [210, 299] }), "no lost change: a"],
    ["nothing is announced", withView({ notices: [] }), "no lost change: a"],
    ["a follower has an old value", withView({ text: "1" }), "no lost change: a"],
    ["a follower has no value", withView({ text: undefined }), "no lost change: a"],
    ["a follower has something that is gone", { ...withView({}), finals: [final(null)] }, "no lost change: a"],
    ["a follower follows what is not there", withView({ name: "b", uri: "b" }), "no lost change: b"],
    ["a last read is old", { ...sound, lastReads: new Map([["a", "1"]]) }, "last value: a"],
    ["a last read is missing", { ...sound, lastReads: new Map() }, "last value: a"],
    ["a ring is lost", withRing({ rung: { gen: 2, n: 12 } }), "no lost occurrence: rang"],
    ["a ring comes twice", withRing({ rung: { gen: 2, n: 10 } }), "no lost occurrence: rang"],
    [
      "more rings are said to be missed than were",
      withRing({ rung: { gen: 2, n: 11 }, missed: 1 }),
      "no lost occurrence: rang",
    ],
    ["a ring is of another backend", withRing({ rung: { gen: 3, n: 11 } }), "no lost occurrence: rang"],
    ["a line is none of the protocol", { ...sound, strays: ["Hello"] }, "nothing but protocol: standard output"],
  ])("finds it when %s", (_what, history, found) => {
    expect(checkHistory(history).map(({ check, subject }) => `${check}: ${subject}`)).toContain(found);
  });

  it.each<[what: string, read: Asked]>([
    ["of a former backend was asked before the next was heard of", readOf(1, 239)],
    ["tells of the next backend", readOf(2, 241)],
  ])("finds nothing when a read %s", (_what, read) => {
    expect(checkHistory(withAsked(ofNext, read))).toEqual([]);
  });

  it("finds nothing when somebody has subscribed anew after the last change, and was told nothing more", () => {
    expect(checkHistory(withView({ joins: [5, 301], notices: [] }))).toEqual([]);
  });

  it("tells the story of an id in order when something is wrong with it", () => {
    const [violation] = checkHistory(withJournal({ what: "applied", id: "m3" }));
    expect(violation?.story).toEqual([
      "      0.0 ms  m3: asked what m3",
      "     90.0 ms  backend: kill",
      "    100.0 ms  backend: gone",
      "    101.0 ms  backend 2: started",
      "    102.0 ms  m3: OUTCOME_UNKNOWN",
      "    190.0 ms  backend 2: listens",
      "   on record  taken",
      "   on record  applied",
      "   on record  applied",
    ]);
  });
});

function answers(at: number, outcome: string): Answer[] {
  return [{ at, outcome }];
}

function readOf(gen: number, at: number): Asked {
  return { ...ask("r", "read", [{ at: 250, outcome: "ok", stamp: { gen, n: 1 } }]), at };
}

function final(text: string | null): CycleHistory["finals"][number] {
  return { uri: "a", text, changedAt: 300 };
}

describe("findStaleReads()", () => {
  const at = (gen: number, n: number, answeredAt: number): Answer[] => [
    { at: answeredAt, outcome: "ok", stamp: { gen, n } },
  ];
  const read = (id: string, came: Answer[], asked: number): Asked => ({
    ...ask(id, "read", came),
    what: cellUris.count,
    at: asked,
  });

  it.each<[what: string, asked: readonly Asked[], found: readonly string[]]>([
    ["reads go on", [read("a", at(1, 5, 20), 10), read("b", at(1, 5, 40), 30), read("c", at(2, 1, 60), 50)], []],
    ["a read goes back", [read("a", at(1, 5, 20), 10), read("b", at(1, 4, 40), 30)], ["b"]],
    ["a read goes back to a backend that is gone", [read("a", at(2, 1, 20), 10), read("b", at(1, 9, 40), 30)], ["b"]],
    ["both were under way at once", [read("a", at(1, 5, 20), 10), read("b", at(1, 4, 40), 19)], []],
    ["a mutation was answered with more", [ask("a", "mutation", at(1, 5, 20)), read("b", at(1, 4, 40), 30)], ["b"]],
    ["a mutation was answered with less", [ask("a", "mutation", at(1, 4, 20)), read("b", at(1, 5, 40), 30)], []],
  ])("is right when %s", (_what, asked, found) => {
    expect(findStaleReads({ ...sound, asked }).map((stale) => stale.read.id)).toEqual(found);
  });
});
