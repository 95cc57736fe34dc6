import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, exportSPKI, generateKeyPair, SignJWT, UnsecuredJWT, type JWTPayload } from "jose";

/** The tokens that the corpus of bad inputs names. The last two are no JWTs: `withFaults()` knows them. */
export const tokenNames = [
  "GOOD",
  "ALICE",
  "BOB",
  "READ_ONLY",
  "AUD_NONE",
  "AUD_OTHER",
  "ISS_OTHER",
  "EXPIRED",
  "NBF",
  "HS_CONFUSED",
  "ALG_NONE",
  "VERIFIER_500",
  "VERIFIER_HANG",
] as const;

export type TokenName = (typeof tokenNames)[number];

/** What a token is to be like. Claims that are `undefined` are left out. */
export interface TokenWish {
  readonly claims?: Readonly<Record<string, unknown>>;
  readonly header?: Readonly<Record<string, unknown>>;
  /** Default `rsa`; `stranger` is a key of nobody's under the name of the first. */
  readonly key?: "rsa" | "ec" | "stranger";
}

/** What the endpoint of the keys does. */
export type KeysMode = "serve" | "fail" | "hang" | "redirect" | "endless";

/** An authorization server of the tests' own: it signs whatever it is asked to. Whoever started it closes it. */
export interface Issuer {
  readonly issuer: string;
  readonly jwks: string;
  readonly tokens: Readonly<Record<TokenName, string>>;
  /** How often the keys were asked for, and anything else of it. */
  readonly asked: { keys: number; other: number };
  mode: KeysMode;
  mint(wish?: TokenWish): Promise<string>;
  close(): Promise<void>;
}

export interface IssuerSetting {
  /** Whom the tokens are for. */
  readonly resource: string;
  /** What `GOOD`, `ALICE` and `BOB` are granted; `READ_ONLY` has the first of them. */
  readonly scopes: readonly [string, ...string[]];
}

const hour = 3600;

async function makeKeys() {
  const rsa = await generateKeyPair("RS256", { extractable: true });
  const ec = await generateKeyPair("ES256", { extractable: true });
  const stranger = await generateKeyPair("RS256", { extractable: true });
  const jwks = {
    keys: [
      { ...(await exportJWK(rsa.publicKey)), kid: "rsa", alg: "RS256", use: "sig" },
      { ...(await exportJWK(ec.publicKey)), kid: "ec", alg: "ES256", use: "sig" },
    ],
  };
  return { rsa, ec, stranger, jwks };
}

/** Serves the keys, in the way that it is told to. */
async function serveKeys(jwks: object) {
  const state = { mode: "serve" as KeysMode, asked: { keys: 0, other: 0 } };
  const server = createServer((request, response) => {
    if (request.url !== "/jwks") {
      state.asked.other += 1;
      response.writeHead(200).end(JSON.stringify(jwks));
      return;
    }
    state.asked.keys += 1;
    if (state.mode === "serve") response.writeHead(200).end(JSON.stringify(jwks));
    if (state.mode === "fail") response.writeHead(500).end();
    if (state.mode === "redirect") response.writeHead(302, { location: "/elsewhere" }).end();
    if (state.mode === "endless") response.writeHead(200).end(`{"keys":[${" ".repeat(300 * 1024)}]}`);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // A server over TCP has an address of this shape.
  const { port } = server.address() as AddressInfo;
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { state, url: `http://127.0.0.1:${port}`, close };
}

/** Starts an authorization server, with every token of the corpus minted. */
export async function startIssuer({ resource, scopes }: IssuerSetting): Promise<Issuer> {
  const keys = await makeKeys();
  const { state, url, close } = await serveKeys(keys.jwks);
  const now = Math.floor(Date.now() / 1000);
  const base = { iss: url, aud: resource, sub: "alice", scope: scopes.join(" "), client_id: "corpus", iat: now };
  const toPayload = (claims: TokenWish["claims"]): JWTPayload => {
    const all = Object.entries({ ...base, exp: now + hour, ...claims });
    return Object.fromEntries(all.filter(([, value]) => value !== undefined));
  };
  const mint = async ({ claims, header, key = "rsa" }: TokenWish = {}): Promise<string> => {
    const alg = key === "ec" ? "ES256" : "RS256";
    const kid = key === "ec" ? "ec" : "rsa";
    return new SignJWT(toPayload(claims))
      .setProtectedHeader({ alg, kid, typ: "at+jwt", ...header })
      .sign(keys[key].privateKey, { crit: { proof: true } });
  };
  const good = await mint();
  const secret = new TextEncoder().encode(await exportSPKI(keys.rsa.publicKey));
  const tokens: Record<TokenName, string> = {
    GOOD: good,
    ALICE: await mint({ claims: { jti: "alice" } }),
    BOB: await mint({ claims: { sub: "bob" } }),
    READ_ONLY: await mint({ claims: { scope: scopes[0] } }),
    AUD_NONE: await mint({ claims: { aud: undefined } }),
    AUD_OTHER: await mint({ claims: { aud: "https://other.example/mcp" } }),
    ISS_OTHER: await mint({ claims: { iss: "https://other.example" } }),
    EXPIRED: await mint({ claims: { exp: now - 1 } }),
    NBF: await mint({ claims: { nbf: now + hour } }),
    HS_CONFUSED: await new SignJWT(toPayload({})).setProtectedHeader({ alg: "HS256", kid: "rsa" }).sign(secret),
    ALG_NONE: new UnsecuredJWT(toPayload({})).encode(),
    VERIFIER_500: "verifier-500.makes.the-verifier-throw",
    VERIFIER_HANG: "verifier-hang.makes.the-verifier-hang",
  };
  return {
    issuer: url,
    jwks: `${url}/jwks`,
    tokens,
    asked: state.asked,
    mint,
    close,
    get mode() {
      return state.mode;
    },
    set mode(mode) {
      state.mode = mode;
    },
  };
}
