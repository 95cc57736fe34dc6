import type { SurfaceError } from "../../errors.ts";
import { isRecord } from "../../options/is-object.ts";
import { deepFreeze, isJsonObject, type JsonObject } from "../../schema/json.ts";
import type { Caller } from "../../surface/caller.ts";

/** A field of a caller in the answer of a verifier or in a grant. */
export interface CallerField {
  /** Returns a frozen copy; `undefined` for a value that breaks the rule. */
  readonly copy: (value: unknown) => unknown;
  /** Completes the sentence "the field must be …". */
  readonly rule: string;
  readonly isRequired?: boolean;
}

const encoder = new TextEncoder();
const maxTextBytes = 1024;
/** Most scopes, and most resources: more does not fit beside claims on a link. */
const maxEntries = 1024;
/** Most characters of scopes as JSON, of claims as JSON, and of resources with their actions. */
const maxChars = 16 * 1024;
const bound = `at most ${maxEntries} of them and ${maxChars} characters`;

/** Form of a scope (RFC 6749, appendix A.4): no space, no quote, no backslash. */
const scopeForm = /^[\x21\x23-\x5B\x5D-\x7E]{1,128}$/;

/** Returns whether a value is the name of a scope. */
export function isScopeToken(value: unknown): value is string {
  return typeof value === "string" && scopeForm.test(value);
}

function copyText(value: unknown): string | undefined {
  return typeof value === "string" && encoder.encode(value).length <= maxTextBytes ? value : undefined;
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === "string");
}

function copyScopes(scopes: unknown): readonly string[] | undefined {
  if (!isTexts(scopes) || scopes.length > maxEntries || JSON.stringify(scopes).length > maxChars) return undefined;
  return Object.freeze([...scopes]);
}

function copyClaims(claims: unknown): JsonObject | undefined {
  try {
    const text = isJsonObject(claims) ? JSON.stringify(claims) : "";
    const copy: unknown = text === "" || text.length > maxChars ? undefined : JSON.parse(text);
    return isJsonObject(copy) ? deepFreeze(copy) : undefined;
  } catch {
    // Cyclic, or with a getter that throws.
    return undefined;
  }
}

/** Returns a frozen copy of lists of actions by resource; `undefined` for other values, or too much. */
export function copyResources(value: unknown): NonNullable<Caller["resources"]> | undefined {
  if (!isRecord(value)) return undefined;
  const names = Object.keys(value);
  if (names.length > maxEntries) return undefined;
  let chars = 0;
  const entries: (readonly [string, readonly string[]])[] = [];
  for (const name of names) {
    const actions: unknown = Reflect.get(value, name);
    if (!isTexts(actions)) return undefined;
    chars += name.length;
    for (const action of actions) chars += action.length + 1;
    entries.push([name, Object.freeze([...actions])]);
  }
  // Defines keys such as `__proto__`, where an assignment would set the prototype.
  return chars > maxChars ? undefined : Object.freeze(Object.fromEntries(entries));
}

/** A text that is not empty. */
export const filledField: CallerField = {
  copy: (value) => (value === "" ? undefined : copyText(value)),
  rule: `a text that is not empty, of at most ${maxTextBytes} bytes`,
};
export const textField: CallerField = { copy: copyText, rule: `a text of at most ${maxTextBytes} bytes` };
/** Scopes of any form, for verifiers: issuers have their own. */
export const scopesField: CallerField = { copy: copyScopes, rule: `a list of texts, ${bound}`, isRequired: true };
/** Scopes of a grant: each once, in the form of RFC 6749. */
export const scopeTokensField: CallerField = {
  copy: (value) => {
    const scopes = copyScopes(Array.isArray(value) ? [...new Set<unknown>(value)] : value);
    return scopes?.every(isScopeToken) === true ? scopes : undefined;
  },
  rule: `a list of scopes, each of visible ASCII without quotes and backslashes, ${bound}`,
  isRequired: true,
};
export const claimsField: CallerField = {
  copy: copyClaims,
  rule: `an object in JSON, of at most ${maxChars} characters`,
};
export const resourcesField: CallerField = { copy: copyResources, rule: `lists of texts by names, ${bound}` };

/**
 * Reads fields, each once, into an object of frozen copies. Leaves out fields that are `undefined` and not required.
 *
 * @param refuse - creates the error for a field that breaks its rule.
 */
export function readFields(
  source: object,
  fields: Readonly<Record<string, CallerField>>,
  refuse: (problem: string) => SurfaceError,
): Readonly<Record<string, unknown>> {
  const read: Record<string, unknown> = {};
  for (const [name, { copy, rule, isRequired = false }] of Object.entries(fields)) {
    const value: unknown = Reflect.get(source, name);
    if (value === undefined && !isRequired) continue;
    const copied = copy(value);
    if (copied === undefined) throw refuse(`"${name}" must be ${rule}`);
    read[name] = copied;
  }
  return read;
}
