import type {
  CallRow,
  ExposureRow,
  HistoryRow,
  PageExposure,
  PageSnapshot,
  ShownApp,
} from "../../src/inspector/messages.ts";

/** The time of all samples. */
export const sampleTime = 1_790_000_000_000;

export const sampleApp: ShownApp = {
  name: "tracker",
  version: "2.4.0",
  instance: "i1",
  approve: true,
  values: true,
};

const caller = { id: "ana@example.com", issuer: "https://id.example.com", isAnonymous: false };
const tools = ["issue_create", "issue_search", "board_move", "report_build", "user_invite", "label_set"] as const;
const outcomes = ["ok", "ok", "ok", "ok", "failed", "ok", "refused", "cancelled", "ok", "asked"] as const;

/** Makes a running call. */
export function sampleCall(id: number, parts: Partial<CallRow> = {}): CallRow {
  return {
    id: `call-${id}`,
    tool: tools[id % tools.length] ?? "issue_create",
    state: "running",
    caller: "ana@example.com",
    view: "default",
    since: sampleTime - 1000 * (id % 90),
    calls: [],
    ...parts,
  };
}

/** Makes the row of an ended request. */
export function sampleRow(seq: number, parts: Partial<HistoryRow> = {}): HistoryRow {
  const outcome = outcomes[seq % outcomes.length] ?? "ok";
  return {
    seq,
    at: sampleTime - 1000 + seq,
    method: "tools/call",
    name: tools[seq % tools.length] ?? "issue_create",
    kind: "tool",
    call: `call-${seq}`,
    transport: "http",
    caller: seq % 3 === 0 ? "anonymous" : "ana@example.com",
    client: "claude-code 3.1.0",
    view: seq % 4 === 0 ? "support" : "default",
    outcome,
    ...(outcome === "refused" && { stage: "rate", code: "RATE_LIMITED" }),
    ...(outcome === "failed" && { code: "CONFLICT", rpcCode: -32000, correlationId: "c0ffee12" }),
    ms: ((seq * 37) % 400) + 0.4,
    bytesIn: 120 + ((seq * 91) % 3000),
    bytesOut: 340 + ((seq * 577) % 90_000),
    arguments: { title: `Row ${seq}`, labels: ["bug"] },
    result: { id: seq, ok: outcome === "ok" },
    ...parts,
  };
}

function sampleSeconds(): PageSnapshot["seconds"] {
  return Array.from({ length: 120 }, (_, index) => {
    const calls = Math.max(0, Math.round(40 + 30 * Math.sin(index / 9) + ((index * 7919) % 17)));
    return {
      at: sampleTime - (120 - index) * 1000,
      calls,
      failed: index % 13 === 0 ? 9 : 1,
      refused: index % 21 === 0 ? 5 : 0,
      p50: 12 + (index % 5),
      p99: 120 + ((index * 31) % 90),
    };
  });
}

const clients: PageSnapshot["clients"] = {
  more: 0,
  rows: [
    {
      id: "s1",
      transport: "http",
      protocol: "2026-07-28",
      client: { name: "claude-code", version: "3.1.0" },
      caller,
      view: "default",
      since: sampleTime - 900_000,
      lastAt: sampleTime - 1200,
      requests: 1834,
      streams: 1,
    },
    {
      id: "s2",
      transport: "stdio",
      protocol: "2025-11-25",
      client: { name: "vscode", version: "1.131.2" },
      caller: { id: "anonymous", isAnonymous: true },
      view: "support",
      since: sampleTime - 60_000,
      lastAt: sampleTime - 20_000,
      requests: 12,
      streams: 0,
    },
  ],
};

const child = sampleCall(12, { tool: "issue_search", since: sampleTime - 2100 });
const calls: PageSnapshot["calls"] = {
  more: 0,
  rows: [
    sampleCall(9, {
      tool: "report_build",
      since: sampleTime - 42_000,
      deadline: sampleTime + 78_000,
      progress: { done: 37, total: 120, message: "Reading comments of sprint 14" },
      calls: [child, sampleCall(13, { state: "requested", tool: "board_read", since: sampleTime - 300 })],
    }),
    sampleCall(10, { tool: "issue_import", progress: { done: 1840, message: "Importing" } }),
    sampleCall(11, { tool: "user_invite", deadline: sampleTime + 3000, view: "support" }),
  ],
};

const questions: PageSnapshot["questions"] = {
  more: 0,
  rows: [
    {
      id: "q1",
      kind: "elicit",
      isConfirmation: true,
      tool: "board_delete",
      caller: "ana@example.com",
      since: sampleTime - 14_000,
    },
  ],
};

const approvals: PageSnapshot["approvals"] = [
  {
    id: "a1",
    tool: "board_delete",
    caller: "ana@example.com",
    message: "Delete the board Sprint 14 with 61 issues?\n\nboard: 7\nkeepIssues: false",
    word: "DELETE",
    since: sampleTime - 5000,
    deadline: sampleTime + 95_000,
  },
  {
    id: "a2",
    tool: "user_invite",
    caller: "bot-7",
    message: "Invite kim@example.com as an administrator?",
    since: sampleTime - 40_000,
    deadline: sampleTime + 12_000,
  },
];

const links: PageSnapshot["links"] = [
  { surface: "tracker", state: "up", since: sampleTime - 3_600_000, reconnects: 2 },
  { surface: "search", state: "down", since: sampleTime - 8000, reason: "lost", reconnects: 5 },
  { surface: "billing", state: "idle", reconnects: 0 },
];

const values: PageSnapshot["values"] = {
  more: 0,
  rows: [
    {
      uri: "surface://tracker/issues",
      watchers: 3,
      isStale: false,
      changes: 412,
      changedAt: sampleTime - 800,
      bytes: 48_211,
      value: [
        { id: 1, title: "Crash on save", open: true },
        { id: 2, title: "Slow board", open: false },
      ],
    },
    {
      uri: "surface://search/index-status",
      watchers: 1,
      isStale: true,
      changes: 19,
      changedAt: sampleTime - 9000,
      bytes: 312,
      value: { documents: 18_233, state: "building" },
    },
    { uri: "surface://tracker/board/7", watchers: 1, isStale: false, changes: 0, bytes: 5_204_113 },
  ],
};

/** Makes a snapshot in which every list has rows. */
export function sampleSnapshot(parts: Partial<PageSnapshot> = {}): PageSnapshot {
  return {
    at: sampleTime,
    app: sampleApp,
    clients,
    calls,
    questions,
    approvals,
    links,
    values,
    seconds: sampleSeconds(),
    tools: {
      more: 0,
      rows: tools.map((tool, index) => ({
        tool,
        calls: 900 - index * 130,
        failed: (index * 17) % 41,
        refused: index,
        p50: 12,
        p99: 140,
      })),
    },
    refusals: { token: 14, rate: 61, head: 3, params: 22 },
    exposure: 1,
    history: Array.from({ length: 60 }, (_, index) => sampleRow(index + 941)),
    oldest: 1,
    ...parts,
  };
}

/** Makes an entry of the exposure. */
export function sampleEntry(index: number, parts: Partial<ExposureRow> = {}): ExposureRow {
  const tool = tools[index % tools.length] ?? "issue_create";
  return {
    kind: "tool",
    id: tool.replace("_", "."),
    name: tool,
    title: `Title of ${tool}`,
    description: `Does ${tool} for the project.\nReturns what it did.`,
    effects: index % 2 === 0 ? ["changes"] : ["reads"],
    scopes: index % 3 === 0 ? ["tracker:write"] : [],
    tokens: 80 + index * 23,
    shown: [
      { as: "listed" },
      index % 2 === 0 ? { hiddenBy: "rule 2: reads only" } : { as: "listed" },
      { as: "operation" },
    ],
    ...parts,
  };
}

/** Makes an exposure with each kind of entry. */
export function sampleExposure(parts: Partial<PageExposure> = {}): PageExposure {
  return {
    version: 1,
    views: [
      { name: "default", face: "direct", tools: 6, tokens: 1820 },
      { name: "support", face: "direct", tools: 3, tokens: 640 },
      { name: "large", face: "gateway", tools: 4, tokens: 410 },
    ],
    entries: [
      ...tools.map((_, index) => sampleEntry(index)),
      sampleEntry(6, {
        id: "board.delete",
        name: "board_delete",
        effects: ["changes", "destructive"],
        confirm: "type DELETE",
        scopes: ["tracker:admin"],
      }),
      sampleEntry(7, { kind: "resource", id: "issues", name: "surface://tracker/issues", effects: ["reads"] }),
      sampleEntry(8, { kind: "template", id: "board", name: "surface://tracker/board/{id}", effects: ["reads"] }),
      sampleEntry(9, { kind: "prompt", id: "triage", name: "triage", effects: [] }),
    ],
    unexposed: [
      { name: "user.remove", kind: "procedure", why: "it has no tag" },
      { name: "secrets", kind: "cell", why: "it has no tag" },
    ],
    ...parts,
  };
}
