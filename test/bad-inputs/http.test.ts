import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bundleScript } from "../fixtures/bundle-script.ts";
import { startIssuer, type Issuer } from "../http/support/issuer.ts";
import type { HttpSettings } from "../fixtures/serve-over-http.ts";
import { HostileServer } from "./http/hostile-server.ts";
import { readHttpCorpus, type HttpBadInput } from "./http/http-input.ts";
import { judgeHttp } from "./http/judge-http.ts";
import { watchHttp, type Names } from "./http/run-http-case.ts";

const resource = "https://ci.example/mcp";

/** Cases that need a server of their own: what they use up, or how patient it is. */
const alone: Readonly<Record<string, HttpSettings>> = {
  "http-body-5MiB-chunked": {},
  "http-slowloris-headers": { options: { headersTimeoutMs: 500, requestTimeoutMs: 800 } },
  "http-slow-body": { options: { headersTimeoutMs: 500, requestTimeoutMs: 800 } },
  "http-listen-unread-flood": {},
};

/** What has a test of its own: one case that is said in words alone, and one of 10,000 requests (`http.deep.test.ts`). */
const elsewhere = new Set(["auth-foreign-handle", "hlegacy-init-flood-10k"]);

const cases = readHttpCorpus().filter(({ id }) => !elsewhere.has(id));

let script = "";
let issuer: Issuer;
let plain: HostileServer;
let guarded: HostileServer;

beforeAll(async () => {
  script = await bundleScript(new URL("../fixtures/hostile.ts", import.meta.url), "bad-inputs-http");
  issuer = await startIssuer({ resource, scopes: ["hostile:read", "hostile:write"] });
  const { issuer: url, jwks, tokens } = issuer;
  const more = { timeoutMs: 2000, failing: tokens.VERIFIER_500, hanging: tokens.VERIFIER_HANG };
  plain = new HostileServer(script);
  guarded = new HostileServer(script, { auth: { issuer: url, jwks, resource, ...more } });
  await Promise.all([plain.stats(), guarded.stats()]);
});

afterAll(() => Promise.all([plain.kill(), guarded.kill(), issuer.close()]));

async function problems(badInput: HttpBadInput): Promise<readonly string[]> {
  const names: Names = { ...issuer.tokens };
  const settings = alone[badInput.id];
  const shared = badInput.precondition.includes("auth") ? guarded : plain;
  const server = settings === undefined ? shared : new HostileServer(script, settings);
  try {
    return judgeHttp(badInput, await watchHttp(server, badInput, names));
  } finally {
    if (server !== shared) await server.kill();
  }
}

describe("the corpus of bad inputs over HTTP", () => {
  it("is run whole", () => {
    expect(cases).toHaveLength(63);
  });

  it.each(cases)("$id", { timeout: 120_000 }, async (badInput) => {
    expect(await problems(badInput)).toEqual([]);
  });
});
