import { isJsonObject, type JsonObject } from "../schema/json.ts";

/** The sections of an exposure, in the order in which a comparison reports them. */
export const sections = ["server", "mounts", "views", "tools", "resources", "templates", "prompts"] as const;

/** A section of an exposure. */
export type Section = (typeof sections)[number];

/** The fields of each record of a section by its name: a wire name, a URI, a prefix, or the name of a view. */
export type ExposureRecords = Readonly<Record<string, JsonObject>>;

/**
 * Everything that agents can reach in an app, as JSON with sorted keys: equal apps have equal exposures, in any order of
 * declarations. `docs/schemas/exposure-lock.schema.json` describes the fields.
 */
export type AppExposure = Readonly<Record<Section, ExposureRecords>>;

/** The sections whose records views show or hide. */
export const viewedSections = ["tools", "resources", "templates", "prompts"] as const;

/** Returns the names of the views that show entries; views that deny every request are left out. */
export function showingViews({ views }: AppExposure): readonly string[] {
  return Object.keys(views).filter((name) => views[name]?.["deny"] === undefined);
}

/** The number of records of each section, and of the tools that may change something. */
export type RecordCounts = Readonly<Record<Section | "mutating", number>>;

/** Counts the records of an exposure. */
export function countRecords(exposure: AppExposure): RecordCounts {
  const mutating = Object.values(exposure.tools).filter(
    ({ hints }) => isJsonObject(hints) && hints["readOnly"] !== true,
  );
  const counts = sections.map((section) => [section, Object.keys(exposure[section]).length]);
  // Has every section.
  return { ...(Object.fromEntries(counts) as Record<Section, number>), mutating: mutating.length };
}
