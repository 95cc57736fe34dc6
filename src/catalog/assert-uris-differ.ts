import { SurfaceError } from "../errors.ts";
import type { ResourceEntry, TemplateEntry } from "./entry.ts";

/** A text that two templates share exactly where some URI could be of both. */
function patternOf({ base, segments }: TemplateEntry): string {
  if (segments === undefined) return base;
  return segments.map((segment) => ("literal" in segment ? segment.literal : "{}")).join("/");
}

/**
 * Refuses entries of different origins that one URI would name.
 *
 * @throws SurfaceError `NAME_COLLISION` naming both origins.
 */
export function assertUrisDiffer(resources: readonly ResourceEntry[], templates: readonly TemplateEntry[]): void {
  const taken = new Map<string, string>();
  const claims = [
    ...resources.map(({ uri, origin }) => ({ uri, origin })),
    ...templates.map((template) => ({ uri: patternOf(template), origin: template.origin })),
  ];
  for (const { uri, origin } of claims) {
    const owner = taken.get(uri);
    // A collection is a list and a template, under one URI.
    if (owner !== undefined && owner !== origin) {
      throw new SurfaceError("NAME_COLLISION", `Naming ${origin}: its URI, "${uri}", is taken by ${owner}`);
    }
    taken.set(uri, origin);
  }
}
