import { SurfaceError } from "../../errors.ts";
import { handleThrown } from "../../spine/handle-thrown.ts";

const maxDepth = 4;
const maxChars = 4096;
/** What is shorter stands in every other word by chance. */
const shortestPart = 16;

function describe(cause: unknown): string {
  if (!(cause instanceof Error)) return `a thrown ${typeof cause}`;
  return typeof cause.stack === "string" ? cause.stack : `${cause.name}: ${cause.message}`;
}

/** A failure and what led to it, in words. What else errors have is left out: those of HTTP clients hold the whole request. */
function describeAll(cause: unknown): string {
  const told: string[] = [];
  for (let at: unknown = cause; at !== undefined && told.length < maxDepth;) {
    told.push(describe(at));
    at = at instanceof Error ? at.cause : undefined;
  }
  return told.join("\ncaused by ");
}

function toPattern(secret: string): string {
  const literal = secret.replaceAll(/[^\w]/g, String.raw`\$&`);
  return secret.length >= shortestPart ? literal : String.raw`(?<!\w)${literal}(?!\w)`;
}

/** A text without a token, or the longer parts of one. */
export function withoutSecrets(text: string, token: string): string {
  const parts = token.split(".").filter((part) => part.length >= shortestPart);
  const secrets = [...new Set([token, encodeURIComponent(token), ...parts])];
  // All in one pass: what stands for a token is no place to look for another.
  return text.replaceAll(new RegExp(secrets.map(toPattern).join("|"), "g"), "[token]");
}

/** Says what a verifier failed with, without the token that it was asked about. Never throws. */
export function withoutToken(cause: unknown, token: string): SurfaceError {
  handleThrown(cause);
  let text: string;
  try {
    text = withoutSecrets(describeAll(cause), token).slice(0, maxChars);
  } catch {
    // A proxy, or a getter that throws.
    text = "a value that cannot be read";
  }
  return new SurfaceError("UNAVAILABLE", `Verifying a token: the verifier failed with ${text}`);
}
