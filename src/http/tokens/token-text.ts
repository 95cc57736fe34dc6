/** Begins every token, so that whoever scans for secrets that were left lying about knows one. */
const prefix = "smcp_";
const tokenForm = /^smcp_[A-Za-z0-9_-]{43}$/;

const encoder = new TextEncoder();

function toBase64Url(bytes: Uint8Array): string {
  const text = btoa(String.fromCodePoint(...bytes));
  return text.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** Makes a token of 256 bits that nobody can guess. */
export function makeToken(): string {
  return prefix + toBase64Url(crypto.getRandomValues(new Uint8Array(32)));
}

/** Whether a text may be a token of ours. */
export function isToken(text: string): boolean {
  return tokenForm.test(text);
}

/**
 * What is kept in a token's place. One round is enough, for nobody can guess 256 bits; and who compares hashes tells by the time
 * that it takes nothing of the token.
 */
export async function hashToken(token: string): Promise<string> {
  return toBase64Url(new Uint8Array(await crypto.subtle.digest("SHA-256", encoder.encode(token))));
}
