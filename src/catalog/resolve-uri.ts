import { coerceScalar } from "../schema/coerce-scalar.ts";
import type { JsonObject } from "../schema/json.ts";
import type { Catalog } from "./catalog.ts";
import type { EntryCall, EntryGuard, ReadResult, ResourceWatch, TemplateEntry, TemplateVariable } from "./entry.ts";
import { isClimbing } from "./uri-syntax.ts";

/** The resource of a URI. It resolves whether or not a backend is connected. */
export interface Resolved extends EntryGuard {
  readonly id: string;
  read(call: EntryCall): ReadResult;
  readonly watch: ResourceWatch;
}

/** Returns the resource of a URI; `undefined` for an unknown URI. */
export type UriResolver = (uri: string) => Resolved | undefined;

/** UTF-16 units of the longest URI that can name a resource. */
export const maxUriLength = 8192;

// C0, DEL and C1: a variable that holds one is never passed on (CWE-113).
// oxlint-disable-next-line no-control-regex -- control characters are what it is for
const control = /[\u0000-\u001f\u007f-\u009f]/;

/** Percent-decodes a path segment once; `undefined` if it is malformed or unsafe in a path. */
export function decodeSegment(segment: string): string | undefined {
  let text: string;
  try {
    text = decodeURIComponent(segment);
  } catch {
    return undefined;
  }
  return text === "" || text === "." || control.test(text) || isClimbing(text) ? undefined : text;
}

/** Returns the value of a variable in a path segment; `undefined` if it does not fit. */
export function readVariable(
  segment: string | undefined,
  variable: TemplateVariable,
): string | number | boolean | undefined {
  const text = segment === undefined ? undefined : decodeSegment(segment);
  return text === undefined ? undefined : coerceScalar(text, variable.json);
}

/** Returns the variables in the segments after a template's base; `undefined` if they do not fit. */
function readVariables(segments: readonly string[], template: TemplateEntry): JsonObject | undefined {
  if (segments.length > template.variables.length) return undefined;
  const values: [string, string | number | boolean][] = [];
  for (const [index, variable] of template.variables.entries()) {
    const segment = segments[index];
    if (segment === undefined && !variable.required) break;
    const value = readVariable(segment, variable);
    if (value === undefined) return undefined;
    values.push([variable.name, value]);
  }
  return Object.fromEntries(values);
}

/** Returns the variables in the segments of a URI; `undefined` if the template does not match. */
function matchSegments(parts: readonly string[], template: FreeTemplate): JsonObject | undefined {
  if (parts.length !== template.segments.length) return undefined;
  const values: [string, string | number | boolean][] = [];
  for (const [index, segment] of template.segments.entries()) {
    const part = parts[index];
    if ("literal" in segment) {
      if (part !== segment.literal) return undefined;
      continue;
    }
    const variable = template.variables.find(({ name }) => name === segment.variable);
    const value = variable && readVariable(part, variable);
    if (value === undefined) return undefined;
    values.push([segment.variable, value]);
  }
  return Object.fromEntries(values);
}

/** A template whose URIs do not begin with the prefix of the app. */
type FreeTemplate = TemplateEntry & Required<Pick<TemplateEntry, "segments">>;

/** Percent-decodes a value of a query; `undefined` if it is malformed. */
function decodeValue(text: string): string | undefined {
  try {
    const value = decodeURIComponent(text);
    return control.test(value) ? undefined : value;
  } catch {
    return undefined;
  }
}

/** Returns the variables in the query of a URI; `undefined` if they do not fit. */
function readQuery(query: string, { variables }: TemplateEntry): JsonObject | undefined {
  const values = new Map<string, string | number | boolean>();
  for (const pair of query.split("&")) {
    const equals = pair.indexOf("=");
    const variable = variables.find(({ name }) => name === pair.slice(0, equals));
    const text = equals === -1 ? undefined : decodeValue(pair.slice(equals + 1));
    const value = variable && text !== undefined ? coerceScalar(text, variable.json) : undefined;
    if (variable === undefined || value === undefined || values.has(variable.name)) return undefined;
    values.set(variable.name, value);
  }
  return Object.fromEntries(values);
}

/** Creates the resolver of pages of lists, which alone have a query. */
function createPageResolver(templates: readonly TemplateEntry[]): UriResolver {
  const pages = new Map(templates.filter(({ isQuery }) => isQuery).map((template) => [template.base, template]));
  return (uri) => {
    const mark = uri.indexOf("?");
    const template = mark === -1 ? undefined : pages.get(uri.slice(0, mark));
    const variables = template && readQuery(uri.slice(mark + 1), template);
    return template && variables && toResolved(template, variables);
  };
}

/** Returns the resource of a template with these variables. */
function toResolved(template: TemplateEntry, variables: JsonObject): Resolved {
  return {
    id: template.id,
    scopes: template.scopes,
    requires: template.requires,
    read: (call) => template.read(variables, call),
    // A getter, since most resources are only read.
    get watch() {
      return template.watch(variables);
    },
  };
}

/** Creates the resolver of templates without the prefix of the app. Compares each segment with each template at most once. */
function createFreeResolver(templates: readonly TemplateEntry[]): UriResolver {
  const free = templates.filter((template): template is FreeTemplate => template.segments !== undefined);
  return (uri) => {
    if (free.length === 0) return undefined;
    const parts = uri.split("/");
    for (const template of free) {
      const variables = matchSegments(parts, template);
      if (variables !== undefined) return toResolved(template, variables);
    }
    return undefined;
  };
}

/**
 * Creates the resolver of a catalog. Matching is linear in the length of the URI: no regular expression is built from a template
 * (CVE-2026-0621). The result for a URI without a resource does not tell whether it is malformed, unknown or not exposed.
 */
export function createUriResolver(catalog: Catalog): UriResolver {
  const exact = new Map(catalog.resources.map((resource) => [resource.uri, resource]));
  const keyed = catalog.templates.filter(({ segments, isQuery }) => segments === undefined && isQuery !== true);
  const templates = new Map(keyed.map((template) => [template.base, template]));
  const findFree = createFreeResolver(catalog.templates);
  const findPage = createPageResolver(catalog.templates);
  return (uri) => {
    if (uri.length > maxUriLength) return undefined;
    const resource = exact.get(uri);
    if (resource !== undefined) return resource;
    if (!uri.startsWith(catalog.uriPrefix)) return findFree(uri);
    // Member keys hold no slash: the first one after the prefix ends the base.
    const slash = uri.indexOf("/", catalog.uriPrefix.length);
    const template = templates.get(slash === -1 ? uri : uri.slice(0, slash));
    if (template === undefined) return findPage(uri);
    const variables = readVariables(slash === -1 ? [] : uri.slice(slash + 1).split("/"), template);
    return variables && toResolved(template, variables);
  };
}
