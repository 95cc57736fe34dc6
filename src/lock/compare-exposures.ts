import { canonicalText, getOwn, toList, type JsonObject } from "../schema/json.ts";
import { compareFields } from "./compare-fields.ts";
import { axes, keysOf, type Axes, type Difference } from "./difference.ts";
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
  /** The records of both versions as they are in their exposures. */
  readonly whole: Readonly<Record<"before" | "after", ExposureRecords>>;
  /** Whether a request that one view leaves to the others may get one that shows more. */
  readonly isOrdered: boolean;
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
  const isOrdered = hasOrder(before) || hasOrder(after);
  return sections.flatMap((section) => {
    const whole = { before: before[section], after: after[section] };
    return compareSection({ section, before: was[section], after: is[section], whole, isOrdered });
  });
}

/** Returns whether several views may match one request: the first does. */
function hasOrder({ server, views }: AppExposure): boolean {
  const isIn = (records: ExposureRecords, field: string): boolean =>
    Object.values(records).some((fields) => fields[field] !== undefined);
  return isIn(server, "viewOrder") || isIn(views, "project");
}

function compareSection(pair: SectionPair): readonly Difference[] {
  const { section, before, after, whole, isOrdered } = pair;
  const renamed = findRenamed(pair);
  const former = new Set(renamed.values());
  return keysOf(before, after).flatMap((name) => {
    const record = { section, name };
    const [was, is] = [getOwn(before, name), getOwn(after, name)];
    if (was !== undefined && is !== undefined) return compareRecord(record, was, is);
    const old = renamed.get(name);
    if (old !== undefined) return compareRenamed(record, old, pair);
    if (is !== undefined) return [toWhole(record, getOwn(whole.after, name) ?? is, { change: "added", isOrdered })];
    if (former.has(name)) return [];
    return [toWhole(record, getOwn(whole.before, name) ?? {}, { change: "removed", isOrdered })];
  });
}

/** @param old - the former name. */
function compareRenamed(record: RecordName, old: string, { before, after }: SectionPair): readonly Difference[] {
  const { name } = record;
  const [was = {}, is = {}] = [getOwn(before, old), getOwn(after, name)];
  const change = { ...record, change: "renamed", field: "", before: old, after: name, ...axes.differs } as const;
  return [change, ...compareRecord(record, withoutId(was), withoutId(is))];
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

/** A record that came or went. */
interface WholeChange extends Pick<SectionPair, "isOrdered"> {
  readonly change: "added" | "removed";
}

/**
 * A record that comes widens, and one that goes breaks. A view that denies does the reverse. An ordered view that shows something does
 * both, since its requests change to or from the next view that matches.
 */
function toWhole(record: RecordName, fields: JsonObject, { change, isOrdered }: WholeChange): Difference {
  const isAdded = change === "added";
  const isView = record.section === "views";
  const isDenying = isView && fields["deny"] !== undefined;
  const verdict: Axes = isAdded === isDenying ? axes.breaks : axes.widens;
  return {
    ...record,
    change,
    field: "",
    ...(isAdded ? { after: fields } : { before: fields }),
    ...(isView && !isDenying && isOrdered ? axes.replaces : verdict),
  };
}

function withoutId({ id: _id, ...fields }: JsonObject): JsonObject {
  return fields;
}

/** Returns the former name of each record that only has another name now. A server is one, under any name. */
function findRenamed({ section, before, after }: SectionPair): ReadonlyMap<string, string> {
  const signatureOf = (fields: JsonObject): string => (section === "server" ? "" : canonicalText(withoutId(fields)));
  const gone = new Map<string, string[]>();
  for (const [name, fields] of Object.entries(before)) {
    if (getOwn(after, name) !== undefined) continue;
    const signature = signatureOf(fields);
    gone.set(signature, [...(gone.get(signature) ?? []), name]);
  }
  const renamed = new Map<string, string>();
  for (const [name, fields] of Object.entries(after)) {
    if (getOwn(before, name) !== undefined) continue;
    const old = gone.get(signatureOf(fields))?.shift();
    if (old !== undefined) renamed.set(name, old);
  }
  return renamed;
}
