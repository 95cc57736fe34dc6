import type { Violation } from "./judge.ts";

/** A session, and an event of it. */
export interface Seen {
  readonly user: string;
  readonly sessionId: string;
  readonly eventId: string | undefined;
}

/** Milliseconds until a probe counts as open: a stream that was opened never ends by itself. */
const waitMs = 5000;

async function statusOf(port: number, init: RequestInit): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${port}/mcp`, { ...init, signal: AbortSignal.timeout(waitMs) });
  await response.body?.cancel();
  return response.status;
}

const accept = "application/json, text/event-stream";
const versions = { "mcp-protocol-version": "2025-11-25", "content-type": "application/json", accept };
const list = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" });

/** Opens a session at one replica. Returns its id; `undefined` if the replica is gone. */
async function open(port: number, user: string): Promise<string | undefined> {
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "probe", version: "1.0.0" } };
  const response = await fetch(`http://127.0.0.1:${port}/mcp`, {
    method: "POST",
    headers: { ...versions, authorization: `Bearer ${user}` },
    body: JSON.stringify({ jsonrpc: "2.0", id: 0, method: "initialize", params }),
  });
  await response.body?.cancel();
  return response.headers.get("mcp-session-id") ?? undefined;
}

/** Opens a session at one replica, and uses it at the others: as another principal, who is refused, and as its own, who is not. */
export async function probeAdoption(ports: readonly number[], owner: string, thief: string) {
  const violations: Violation[] = [];
  const [first = 0, ...others] = ports;
  const sessionId = await open(first, owner);
  let probes = 0;
  if (sessionId === undefined) return { probes, violations };
  for (const port of others) {
    for (const [user, expected] of [
      [thief, 404],
      [owner, 200],
    ] as const) {
      const headers = { ...versions, authorization: `Bearer ${user}`, "mcp-session-id": sessionId };
      const status = await statusOf(port, { method: "POST", headers, body: list });
      probes += 1;
      if (status !== expected) violations.push({ check: "probe", text: `session of ${owner}, by ${user}: ${status}` });
    }
  }
  return { probes, violations };
}

/**
 * Asks each replica for another principal's session and events: with the ids of both, with the session alone, and with its events in a
 * session of the thief. Returns the probes that were not refused.
 */
export async function probeTheft(ports: readonly number[], victim: Seen, thief: Seen) {
  const violations: Violation[] = [];
  let probes = 0;
  const headers = { ...versions, authorization: `Bearer ${thief.user}` };
  const stolen = { ...headers, "mcp-session-id": victim.sessionId };
  const { eventId } = victim;
  const inits: (readonly [string, RequestInit])[] = [
    ["GET in the session", { headers: stolen }],
    ["POST in the session", { method: "POST", headers: stolen, body: list }],
    ["DELETE of the session", { method: "DELETE", headers: stolen }],
  ];
  if (eventId !== undefined) {
    const own = { ...headers, "mcp-session-id": thief.sessionId, "last-event-id": eventId };
    inits.push(["GET of its events", { headers: { ...stolen, "last-event-id": eventId } }]);
    inits.push(["GET of its events in another session", { headers: own }]);
  }
  for (const port of ports) {
    for (const [what, init] of inits) {
      // A replica that was killed meanwhile answers nothing.
      const status = await statusOf(port, init).catch(() => undefined);
      if (status === undefined) continue;
      probes += 1;
      if (![400, 404, 503].includes(status)) violations.push({ check: "probe", text: `${what}: ${status}` });
    }
  }
  return { probes, violations };
}
