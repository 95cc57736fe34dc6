/** What scenarios and the server under attack both know. */

/** Milliseconds the verifier takes to refuse a token, as a remote one would. */
export const slowMs = 200;

/** The token of the web socket link. */
export const socketToken = "link-token";

/** Callers. Three share an id and differ in claims, client or issuer. */
export const tenants = [
  { token: "token-red", identity: { id: "ada", claims: { tenant: "red" } } },
  { token: "token-blue", identity: { id: "ada", claims: { tenant: "blue" } } },
  { token: "token-cli", identity: { id: "ada", clientId: "cli", claims: { tenant: "red" } } },
  { token: "token-bob", identity: { id: "bob", claims: { tenant: "red" } } },
] as const;

interface Identity {
  readonly id: string;
  readonly clientId?: string | undefined;
  readonly claims?: Readonly<Record<string, unknown>> | undefined;
}

/** Returns a caller as one text: id, client and tenant. */
export function tenantOf({ id, clientId = "-", claims }: Identity): string {
  return [id, clientId, String(claims?.["tenant"])].join("/");
}
