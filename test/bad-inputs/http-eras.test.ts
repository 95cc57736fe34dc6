import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isJsonObject } from "../../src/schema/json.ts";
import { bundleScript } from "../fixtures/bundle-script.ts";
import { responseMembers, withMembers } from "../fixtures/bad-inputs-more.ts";
import { envelope, legacyLine } from "../fixtures/envelope.ts";
import { startIssuer, type Issuer } from "../http/support/issuer.ts";
import { readCorpus, type BadInput } from "./bad-input.ts";
import { HostileServer } from "./http/hostile-server.ts";
import type { HttpMessage } from "./http/http-input.ts";
import { answerIn } from "./http/judge-http.ts";
import { initialize, legacyPost, modernPost } from "./http/run-http-case.ts";
import { sendHttp, type HttpSeen } from "./http/send-http.ts";

/** The eras of one endpoint: requests under the modern envelope, and in a session. */
const testedEras = ["modern", "legacy"] as const;
type TestedEra = (typeof testedEras)[number];

const resource = "https://ci.example/mcp";

let issuer: Issuer;
let plain: HostileServer;
let guarded: HostileServer;

beforeAll(async () => {
  const script = await bundleScript(new URL("../fixtures/hostile.ts", import.meta.url), "bad-inputs-eras");
  issuer = await startIssuer({ resource, scopes: ["hostile:read", "hostile:write"] });
  const { issuer: url, jwks, tokens } = issuer;
  plain = new HostileServer(script);
  const more = { timeoutMs: 2000, failing: tokens.VERIFIER_500, hanging: tokens.VERIFIER_HANG };
  guarded = new HostileServer(script, { auth: { issuer: url, jwks, resource, ...more } });
});

afterAll(() => Promise.all([plain.kill(), guarded.kill(), issuer.close()]));

interface Request {
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** The call that a line is; `undefined`: it is none. */
function callIn(line: string): Request | undefined {
  try {
    const { id, method, params } = Object(JSON.parse(line));
    return id !== undefined && method === "tools/call" && isJsonObject(params) ? { method, params } : undefined;
  } catch {
    return undefined;
  }
}

/** The one call that a case of the corpus for stdio is; `undefined`: it is none, or more than one. */
function requestOf({ input, expect: { rpc, rpcAnyOf } }: BadInput): Request | undefined {
  const [line, ...more] = input.lines ?? [];
  const isOne = more.length === 0 && Object.keys(input).length === 1;
  const isAnswered = [rpc, ...(rpcAnyOf ?? [])].every((each) => each !== "none" && each !== "close");
  return isOne && isAnswered && typeof line === "string" ? callIn(line) : undefined;
}

const calls = readCorpus().flatMap((each) => {
  // What comes before the handshake is a era of its own.
  const request = each.id === "legacy-call-before-init" ? undefined : requestOf(each);
  return request === undefined ? [] : [{ ...each, request }];
});

function toMessage(era: TestedEra, { method, params }: Request, session: string): HttpMessage {
  const { _meta: _meant, ...rest } = params;
  if (era === "legacy") return legacyPost(legacyLine("post", method, rest), { "mcp-session-id": session });
  const name: Record<string, string> = typeof rest["name"] === "string" ? { "mcp-name": toHeader(rest["name"]) } : {};
  return modernPost(method, { ...rest, _meta: envelope }, name);
}

function toHeader(name: string): string {
  return `=?base64?${Buffer.from(name).toString("base64")}?=`;
}

describe.each(testedEras)("a bad call over HTTP in the %s era", (era) => {
  it("has more than 20 cases", () => {
    expect(calls.length).toBeGreaterThan(20);
  });

  it.each(calls)("is answered as over stdio: $id", async ({ request, expect: due }) => {
    const { port } = await plain.stats();
    const session = era === "legacy" ? await initialize({ port }) : "none";
    const from = plain.process.marks.length;
    const { text } = await sendHttp(toMessage(era, request, session), { port });
    const allowed = due.rpcAnyOf ?? (due.rpc === undefined ? ["result"] : [due.rpc]);
    expect(allowed).toContain(answerIn(text));
    expect(text).not.toMatch(/secret-token|\/home\/u|polluted|node:internal/);
    const forbidden = due.sideEffect === undefined ? ["configure"] : ["configure", "wipe"];
    const marks = plain.process.marks.slice(from).map(([name]) => name);
    expect(marks.filter((name) => forbidden.includes(name))).toEqual([]);
  });
});

describe.each(testedEras)("a request that is also a response, in the %s era", (era) => {
  it.each(Object.entries(responseMembers))("runs nothing: %s", async (_id, members) => {
    const { port } = await plain.stats();
    const session = era === "legacy" ? await initialize({ port }) : "none";
    const message = toMessage(era, { method: "tools/call", params: { name: "wipe", arguments: {} } }, session);
    const from = plain.process.marks.length;
    const seen = await sendHttp({ ...message, body: withMembers(String(message.body), members) }, { port });
    expect([seen.status, answerIn(seen.text)]).toEqual([400, -32600]);
    expect(plain.process.marks.slice(from)).toEqual([]);
  });
});

describe.each(testedEras)("a caller in the %s era", (era) => {
  const send = async (token: string, request: Request, session = "none"): Promise<HttpSeen> => {
    const { port } = await guarded.stats();
    const message = toMessage(era, request, session);
    return sendHttp({ ...message, headers: { ...message.headers, authorization: `Bearer ${token}` } }, { port });
  };
  const open = async (token: string): Promise<string> => {
    const { port } = await guarded.stats();
    return era === "legacy" ? initialize({ port }, token) : "none";
  };

  it("can read the values of its own handles, and no others", async () => {
    const { ALICE, BOB } = issuer.tokens;
    const [alice, bob] = [await open(ALICE), await open(BOB)];
    const large = { name: "any", arguments: { v: "x".repeat(400 * 1024) } };
    const { text } = await send(ALICE, { method: "tools/call", params: large }, alice);
    const uri = /app:\/\/[^"\\]+/.exec(text)?.[0] ?? "no handle";
    const read = (handle: string): Request => ({ method: "resources/read", params: { uri: handle } });
    const withName = async (token: string, handle: string, session: string): Promise<string> => {
      const { port } = await guarded.stats();
      const message = toMessage(era, read(handle), session);
      const headers = { ...message.headers, authorization: `Bearer ${token}` };
      const named = era === "modern" ? { ...headers, "mcp-name": handle } : headers;
      return (await sendHttp({ ...message, headers: named }, { port })).text;
    };
    expect(answerIn(await withName(ALICE, uri, alice))).toBe("result");
    const foreign = await withName(BOB, uri, bob);
    expect(typeof answerIn(foreign)).toBe("number");
    const unknown = uri.replace(/[0-9a-f]{8}/, "00000000");
    expect(foreign.replaceAll(uri, "")).toBe((await withName(BOB, unknown, bob)).replaceAll(unknown, ""));
  });

  it("is named by their token to the handler, which never sees it", async () => {
    const { ALICE, BOB } = issuer.tokens;
    const whoami = { method: "tools/call", params: { name: "whoami", arguments: {} } };
    const [{ text: alice }, { text: bob }] = [
      await send(ALICE, whoami, await open(ALICE)),
      await send(BOB, whoami, await open(BOB)),
    ];
    expect([answerIn(alice), answerIn(bob)]).toEqual(["result", "result"]);
    expect(alice).toContain("alice");
    expect(bob).toContain("bob");
    const seen = `${guarded.process.stderr}${alice}${bob}`;
    for (const token of [ALICE, BOB]) expect(seen).not.toContain(token.split(".").at(-1));
  });

  it("without a scope receives all required ones, and nothing runs", async () => {
    const { READ_ONLY } = issuer.tokens;
    const wipe = { method: "tools/call", params: { name: "wipe", arguments: {} } };
    const { status, headers } = await send(READ_ONLY, wipe, await open(READ_ONLY));
    expect(status).toBe(403);
    expect(headers["www-authenticate"]).toMatch(/error="insufficient_scope".*scope="hostile:write"/);
    expect(guarded.process.marks.map(([name]) => name)).not.toContain("wipe");
  });

  it.each(["AUD_NONE", "AUD_OTHER", "ISS_OTHER", "EXPIRED", "NBF", "HS_CONFUSED", "ALG_NONE"] as const)(
    "with a token that is %s is refused for any request",
    async (name) => {
      const { port } = await guarded.stats();
      const session = await open(issuer.tokens.ALICE);
      const headers = { authorization: `Bearer ${issuer.tokens[name]}`, "mcp-session-id": session };
      const list = { method: "tools/list", params: {} };
      expect((await send(issuer.tokens[name], list, session)).status).toBe(401);
      for (const method of ["GET", "DELETE"]) {
        const { status, text } = await sendHttp({ method, path: "/mcp", headers }, { port });
        expect([status, text.includes("result")]).toEqual([401, false]);
      }
    },
  );
});
