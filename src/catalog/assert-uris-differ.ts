import { SurfaceError } from "../errors.ts";
import type { ResourceEntry, TemplateEntry } from "./entry.ts";
import type { UriSegment } from "./free-uri.ts";
import { readVariable, type FreeTemplate } from "./resolve-uri.ts";

function refuse(origin: string, uri: string, owner: string): SurfaceError {
  return new SurfaceError("NAME_COLLISION", `Naming ${origin}: its URI, "${uri}", is taken by ${owner}`);
}

function isFree(template: TemplateEntry): template is FreeTemplate {
  return template.segments !== undefined;
}

/** Whether a segment of a URI could be read as this one of a template; for a variable, as far as its type tells. */
function couldBe(literal: string, segment: UriSegment, { variables }: FreeTemplate): boolean {
  if ("literal" in segment) return literal === segment.literal;
  const variable = variables.find(({ name }) => name === segment.variable);
  return variable !== undefined && readVariable(literal, variable) !== undefined;
}

/** Whether some URI could be of both. Of two variables that is taken for granted. */
function overlap(left: FreeTemplate, right: FreeTemplate): boolean {
  if (left.segments.length !== right.segments.length) return false;
  return left.segments.every((segment, index) => {
    const other = right.segments[index];
    if (other === undefined) return false;
    if ("literal" in segment) return couldBe(segment.literal, other, right);
    return !("literal" in other) || couldBe(other.literal, segment, left);
  });
}

/** Refuses templates of their own that overlap: which of them answered would be a matter of their order. */
function assertApart(templates: readonly FreeTemplate[]): void {
  for (const [index, template] of templates.entries()) {
    const owner = templates.slice(0, index).find((other) => overlap(other, template));
    if (owner !== undefined) throw refuse(template.origin, template.uriTemplate, owner.origin);
  }
}

/**
 * Refuses entries of different origins that one URI would name. A fixed URI may be one that a template describes too: it
 * is read first.
 *
 * @throws SurfaceError `NAME_COLLISION` naming both origins.
 */
export function assertUrisDiffer(resources: readonly ResourceEntry[], templates: readonly TemplateEntry[]): void {
  const taken = new Map<string, string>();
  const claims = [
    ...resources.map(({ uri, origin }) => ({ uri, origin })),
    ...templates.filter((template) => !isFree(template)).map(({ base, origin }) => ({ uri: base, origin })),
  ];
  for (const { uri, origin } of claims) {
    const owner = taken.get(uri);
    // A collection is a list and a template, under one URI.
    if (owner !== undefined && owner !== origin) throw refuse(origin, uri, owner);
    taken.set(uri, origin);
  }
  assertApart(templates.filter(isFree));
}
