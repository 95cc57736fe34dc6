import { canonicalText, getOwn, isJsonObject, toList, type JsonObject, type JsonValue } from "../schema/json.ts";
import { compareSchemas } from "./compare-schemas.ts";
import { axes, keysOf, type Axes, type Change } from "./difference.ts";

type Value = JsonValue | undefined;

/** Compares two versions of a field that differ. */
type FieldRule = (before: Value, after: Value) => Axes | readonly Change[];

/** Every change of the field has the same axes. */
const always =
  (verdict: Axes): FieldRule =>
  () =>
    verdict;

/** Models read the field, and follow it. */
const text = always(axes.widens);

function textsOf(value: Value): readonly string[] {
  return toList(value).map(canonicalText);
}

/** A list in any order. */
function list(added: Axes, removed: Axes): FieldRule {
  return (before, after) => {
    const [was, is] = [textsOf(before), textsOf(after)];
    const more = is.some((item) => !was.includes(item)) ? added : undefined;
    const less = was.some((item) => !is.includes(item)) ? removed : undefined;
    if (more === undefined || less === undefined) return more ?? less ?? axes.neutral;
    return more.reach === less.reach ? more : axes.replaces;
  };
}

/** A field that may be left out. @param otherwise - compares two values. @default they replace one another */
function optional(added: Axes, removed: Axes, otherwise: FieldRule = always(axes.replaces)): FieldRule {
  return (before, after) => {
    if (before === undefined) return added;
    return after === undefined ? removed : otherwise(before, after);
  };
}

const confirmRanks: readonly Value[] = ["never", "allow", "refuse"];

const confirm: FieldRule = (before, after) =>
  confirmRanks.indexOf(after) > confirmRanks.indexOf(before) ? axes.breaks : axes.widens;

/** A hint counts if it makes a tool look, or be, more dangerous. The others follow from `readOnly` by default. */
const hints: FieldRule = (before, after) => {
  if (!isJsonObject(before) || !isJsonObject(after)) return axes.replaces;
  const isLost = (name: string): boolean => before[name] === true && after[name] !== true;
  const isGained = (name: string): boolean => before[name] !== true && after[name] === true;
  const isWorse = isLost("readOnly") || isLost("idempotent") || isGained("destructive") || isGained("openWorld");
  return isWorse ? axes.widens : axes.narrows;
};

/** The order of rules, of which the first that matches decides. Rules that came or went are reported themselves. */
const order: FieldRule = (before, after) => {
  if (before === undefined || after === undefined) return axes.replaces;
  const [was, is] = [textsOf(before), textsOf(after)];
  const isMoved =
    canonicalText(was.filter((name) => is.includes(name))) !== canonicalText(is.filter((name) => was.includes(name)));
  return isMoved ? axes.replaces : [];
};

const timeout: FieldRule = (before, after) => (Number(after) < Number(before) ? axes.differs : axes.neutral);

/** The schemas of the details of refusals, by code. */
const errors: FieldRule = (before, after) => {
  const toSchema = (byCode: Value): JsonObject => ({ type: "object", properties: byCode ?? {} });
  return compareSchemas(toSchema(before), toSchema(after), "output");
};

function toObject(value: Value): JsonObject {
  return isJsonObject(value) ? value : {};
}

/** A field that is an object of fields, each with its rule. */
const nested: FieldRule = (before, after) => {
  return compareFields(toObject(before), toObject(after)).map(({ field, path, ...change }) => ({
    ...change,
    path: [field, ...path],
  }));
};

/** Records by name: one that comes widens, one that goes breaks, and models follow what changes. */
const named: FieldRule = (before, after) => {
  const [was, is] = [toObject(before), toObject(after)];
  return keysOf(was, is).flatMap((name): readonly Change[] => {
    const [old, now] = [getOwn(was, name), getOwn(is, name)];
    if (old === undefined) return [{ path: [name], after: now, ...axes.widens }];
    if (now === undefined) return [{ path: [name], before: old, ...axes.breaks }];
    return compareFields(toObject(old), toObject(now)).map(({ field, path, ...change }) => ({
      ...change,
      path: [name, field, ...path],
    }));
  });
};

const reached = optional(axes.widens, axes.breaks, list(axes.widens, axes.breaks));

const rules: Readonly<Record<string, FieldRule>> = {
  ...{ title: text, description: text, instructions: text, websiteUrl: text, icons: text, meta: text, tags: text },
  ...{ id: always(axes.differs), kind: always(axes.differs), mimeType: always(axes.differs) },
  ...{ from: always(axes.neutral), version: always(axes.neutral), onDisconnect: always(axes.neutral) },
  input: (before, after) => compareSchemas(before, after, "input"),
  output: (before, after) => compareSchemas(before, after, "output"),
  ...{ errors, hints, confirm, timeoutMs: timeout },
  // Of the page of a tool. Left out, its users are the model and pages.
  ...{
    ui: optional(axes.widens, axes.breaks, nested),
    csp: nested,
    permissions: reached,
    prefersBorder: always(axes.neutral),
  },
  ...{ connectDomains: reached, resourceDomains: reached, frameDomains: reached, baseUriDomains: reached },
  uri: optional(axes.widens, axes.breaks, always(axes.differs)),
  visibility: optional(axes.breaks, axes.widens, list(axes.widens, axes.breaks)),
  confirmWord: optional(axes.breaks, axes.widens, always(axes.neutral)),
  scopes: list(axes.breaks, axes.widens),
  scopesAny: optional(axes.breaks, axes.widens, list(axes.widens, axes.breaks)),
  resource: optional(axes.breaks, axes.widens),
  canCall: list(axes.widens, axes.narrows),
  callScopes: list(axes.widens, axes.narrows),
  views: list(axes.widens, axes.breaks),
  list: (_before, after) => (after === "keys" ? axes.breaks : axes.replaces),
  listsItems: optional(axes.widens, axes.breaks),
  // Of views. The entries that a view shows or hides now are reported themselves.
  ...{ face: always(axes.differs), readOnly: optional(axes.narrows, axes.widens) },
  allow: optional(axes.narrows, axes.widens, list(axes.widens, axes.narrows)),
  disallow: list(axes.narrows, axes.widens),
  deny: optional(axes.breaks, axes.widens, text),
  namespaces: () => [],
  // Of mounts and of the server.
  ...{ skills: named, digest: text, files: always(axes.neutral) },
  resources: optional(axes.widens, axes.breaks),
  liveViews: optional(axes.widens, axes.narrows),
  viewOrder: order,
};

/** Compares two versions of the fields of a record. The direction of a field without a rule is unknown: it widens and breaks. */
export function compareFields(before: JsonObject, after: JsonObject): readonly (Change & { readonly field: string })[] {
  return keysOf(before, after).flatMap((field) => {
    const [was, is] = [getOwn(before, field), getOwn(after, field)];
    if (was !== undefined && is !== undefined && canonicalText(was) === canonicalText(is)) return [];
    const verdict = getOwn(rules, field)?.(was, is) ?? axes.replaces;
    const changes = "reach" in verdict ? [{ path: [], before: was, after: is, ...verdict }] : verdict;
    return changes.map((change) => ({ ...change, field }));
  });
}
