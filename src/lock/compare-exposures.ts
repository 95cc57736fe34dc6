import { canonicalText, toList, type JsonObject } from "../schema/json.ts";
import { compareFields } from "./compare-fields.ts";
import { axes, type Axes, type Difference } from "./difference.ts";
import {
  sections,
  showingViews,
  viewedSections,
  type AppExposure,
  type ExposureRecords,
  type Section,
} from "./exposure.ts";

/** Two versions of one section. */
interface SectionPair {
  readonly section: Section;
  readonly before: ExposureRecords;
  readonly after: ExposureRecords;
}

/** Writes the views of each record, limited to `views`. An exposure leaves them out of an entry that all views show. */
function withViews(exposure: AppExposure, views: readonly string[]): AppExposure {
  const all = showingViews(exposure);
  const write = (records: ExposureRecords): ExposureRecords =>
    Object.fromEntries(
      Object.entries(records).map(([name, fields]) => {
        const shown = toList(fields["views"] ?? all);
        return [name, { ...fields, views: views.filter((view) => shown.includes(view)) }];
      }),
    );
  return { ...exposure, ...Object.fromEntries(viewedSections.map((section) => [section, write(exposure[section])])) };
}

/**
 * Compares two exposures: one difference for each record that came, went or got another name, and for each changed part of a field.
 * Sorted by section and name. Empty if nothing differs that agents could notice.
 */
export function compareExposures(before: AppExposure, after: AppExposure): readonly Difference[] {
  // A view that came, went or is denied now is one difference, and not one for each entry.
  const showing = new Set(showingViews(after));
  const both = showingViews(before).filter((view) => showing.has(view));
  const [was, is] = [withViews(before, both), withViews(after, both)];
  return sections.flatMap((section) => compareSection({ section, before: was[section], after: is[section] }));
}

function compareSection(pair: SectionPair): readonly Difference[] {
  const { section, before, after } = pair;
  const renamed = findRenamed(pair);
  const former = new Set(renamed.values());
  const differences = [...new Set([...Object.keys(before), ...Object.keys(after)])].toSorted().flatMap((name) => {
    const [was, is] = [before[name], after[name]];
    const record = { section, name };
    if (was !== undefined && is !== undefined) return compareRecord(record, was, is);
    const old = renamed.get(name);
    if (is !== undefined && old !== undefined) {
      const change = { ...record, change: "renamed", field: "", before: old, after: name, ...axes.differs } as const;
      return [change, ...compareRecord(record, withoutId(before[old] ?? {}), withoutId(is))];
    }
    if (is !== undefined) return [toWhole(record, is, "added")];
    return was === undefined || former.has(name) ? [] : [toWhole(record, was, "removed")];
  });
  return differences;
}

type RecordName = Pick<Difference, "section" | "name">;

function compareRecord(record: RecordName, was: JsonObject, is: JsonObject): readonly Difference[] {
  return compareFields(was, is).map(({ field, path, ...change }) => ({
    ...record,
    change: "changed",
    field: [field, ...path].join("."),
    ...change,
  }));
}

/** A record that comes widens, and one that goes breaks. A view that denies does the reverse. */
function toWhole(record: RecordName, fields: JsonObject, change: "added" | "removed"): Difference {
  const isAdded = change === "added";
  const isMore = isAdded === (fields["deny"] === undefined || record.section !== "views");
  const verdict: Axes = isMore ? axes.widens : axes.breaks;
  return { ...record, change, field: "", ...(isAdded ? { after: fields } : { before: fields }), ...verdict };
}

function withoutId({ id: _id, ...fields }: JsonObject): JsonObject {
  return fields;
}

/** Returns the former name of each record that only has another name now. A server is one, under any name. */
function findRenamed({ section, before, after }: SectionPair): ReadonlyMap<string, string> {
  const signatureOf = (fields: JsonObject): string => (section === "server" ? "" : canonicalText(withoutId(fields)));
  const gone = new Map<string, string[]>();
  for (const [name, fields] of Object.entries(before)) {
    if (after[name] !== undefined) continue;
    const signature = signatureOf(fields);
    gone.set(signature, [...(gone.get(signature) ?? []), name]);
  }
  const renamed = new Map<string, string>();
  for (const [name, fields] of Object.entries(after)) {
    if (before[name] !== undefined) continue;
    const old = gone.get(signatureOf(fields))?.shift();
    if (old !== undefined) renamed.set(name, old);
  }
  return renamed;
}
