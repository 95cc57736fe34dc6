import { SurfaceError } from "../../errors.ts";
import { identifiedBy, type Caller } from "../../surface/caller.ts";
import { handleThrown } from "../../spine/handle-thrown.ts";
import { clipText } from "../../schema/visible-text.ts";
import {
  claimsField,
  type CallerField,
  filledField,
  readFields,
  resourcesField,
  scopesField,
  textField,
} from "./caller-fields.ts";
import { withRevocation } from "../at-expiry.ts";

/** What a verdict is held against. */
export interface VerdictSetting {
  /** The token that it is about: nothing of it may be in what the verdict says. */
  readonly token: string;
  readonly resource: string;
  /** Told of a token that is good, and for somebody else: often it is ours, spelled otherwise in one of two places. */
  readonly elsewhere?: (sentence: string) => void;
  /** Seconds since 1970. */
  readonly now: number;
  /** Names of the claims that are part of a caller's identity. @default all claims */
  readonly identityClaims?: readonly string[] | undefined;
}

const maxShownBytes = 256;

/** Shorter tokens are no secrets, and other texts contain them by chance. */
const shortestSecret = 16;

const seconds: CallerField = {
  copy: (value) => (typeof value === "number" && Number.isFinite(value) ? value : undefined),
  rule: "a number of seconds",
};

const fields = {
  id: { ...filledField, isRequired: true },
  issuer: textField,
  scopes: scopesField,
  clientId: textField,
  expiresAt: seconds,
  resources: resourcesField,
  claims: claimsField,
};

const validityFields = {
  expiresAt: seconds,
  notBefore: seconds,
  revoked: { copy: (value: unknown) => (value instanceof AbortSignal ? value : undefined), rule: "an AbortSignal" },
};

/** The time in which a token is good, and the signal that fires when it is taken back. */
interface Validity {
  readonly expiresAt?: number;
  readonly notBefore?: number;
  readonly revoked?: AbortSignal;
}

function refuse(what: string): SurfaceError {
  return new SurfaceError("INVALID_OUTPUT", `Verifying a token: the verifier's ${what}`);
}

/** Returns the names in an audience. An audience without any is no fault of the verifier: such a token is not valid here. */
function readAudience(audience: unknown): readonly string[] {
  const all: readonly unknown[] = Array.isArray(audience) ? audience : [audience];
  const names = all.filter((one) => one !== undefined && one !== null);
  return names.map((one) => {
    if (typeof one === "string") return one;
    if (one instanceof URL) return one.href;
    throw refuse('"resource" must be a text, a URL, or a list of them');
  });
}

function toElsewhere(names: readonly string[], resource: string): string {
  const named = names.length === 0 ? "nobody" : `"${clipText(names.join('", "'), maxShownBytes)}"`;
  return `Verifying a token: the verifier says that it is for ${named}, and this server is "${resource}"`;
}

function isInForce({ revoked, expiresAt = Infinity, notBefore = 0 }: Validity, now: number): boolean {
  if (revoked?.aborted !== true) return notBefore <= now && now < expiresAt;
  handleThrown(revoked.reason);
  return false;
}

/**
 * Makes a caller, with copies of its own, of what a verifier said of a token. `undefined`: the token is no good: the verifier
 * says so, it is for somebody else, it was taken back, or it is not its time.
 *
 * @throws SurfaceError `INVALID_OUTPUT` for what no verifier may say. Its text has nothing of the token.
 */
export function readVerdict(verdict: unknown, setting: VerdictSetting): Caller | undefined {
  const { token, resource, now, elsewhere, identityClaims } = setting;
  if (verdict === undefined || verdict === null || verdict === false) return undefined;
  if (typeof verdict !== "object") throw refuse("answer must be an object or undefined");
  // Each field has the type of its copy.
  const caller = Object.freeze({ isAnonymous: false, ...readFields(verdict, fields, refuse) } as Caller);
  const audience = readAudience(Reflect.get(verdict, "resource"));
  if (!audience.includes(resource)) {
    elsewhere?.(toElsewhere(audience, resource));
    return undefined;
  }
  // As above.
  const validity = readFields(verdict, validityFields, refuse) as Validity;
  if (!isInForce(validity, now)) return undefined;
  if (token.length >= shortestSecret && JSON.stringify(caller).includes(token)) {
    throw refuse("answer must not have the token in it");
  }
  return identifiedBy(withRevocation(caller, validity.revoked), identityClaims);
}
