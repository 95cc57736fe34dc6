import { kDefinition, type AppSeal } from "../builder/app-definition.ts";
import { exposureDiffers } from "../builder/exact-names.ts";
import { toApp } from "../builder/mcp.ts";
import type { MountedGate } from "../catalog/mounts/mounted-entry.ts";
import type { SurfaceError } from "../errors.ts";
import type { ServableApp } from "../mcp/servable-app.ts";
import { invalidOption } from "../options/read-options.ts";
import { getOwn, type JsonObject } from "../schema/json.ts";
import { compareExposures } from "./compare-exposures.ts";
import type { Difference } from "./difference.ts";
import type { AppExposure, ExposureRecords } from "./exposure.ts";
import { ExposureReader, isApp } from "./read-exposure.ts";
import { readLocked } from "./read-lockfile.ts";
import { toSentence } from "./render-check.ts";

const doing = "Cannot call locked()";

function without(records: ExposureRecords, field: string): ExposureRecords {
  const toRest = ({ [field]: _left, ...rest }: JsonObject): JsonObject => rest;
  return Object.fromEntries(Object.entries(records).map(([name, fields]) => [name, toRest(fields)]));
}

function mapEntries(exposure: AppExposure, map: (records: ExposureRecords) => ExposureRecords): AppExposure {
  const { tools, resources, templates, prompts } = exposure;
  const mapped = { tools: map(tools), resources: map(resources), templates: map(templates), prompts: map(prompts) };
  return { ...exposure, ...mapped };
}

/** Leaves out views whose rules come from a source, which may change them while an app runs. */
function toSteady(exposure: AppExposure, hasLiveViews: boolean): AppExposure {
  if (!hasLiveViews) return exposure;
  const steady = mapEntries(exposure, (records) => without(records, "views"));
  return { ...steady, server: without(exposure.server, "viewOrder"), views: {} };
}

function withoutMounted(exposure: AppExposure): AppExposure {
  const isOwn = ({ from }: JsonObject): boolean => !(typeof from === "string" && /^mount\b/.test(from));
  return mapEntries(exposure, (records) => Object.fromEntries(Object.entries(records).filter(([, to]) => isOwn(to))));
}

/** Returns an exposure with the records of one section only. The views decide what the views of a record mean. */
function only(exposure: AppExposure, section: "tools" | "resources", records: ExposureRecords): AppExposure {
  const none = { server: {}, mounts: {}, tools: {}, resources: {}, templates: {}, prompts: {} };
  return { ...none, views: exposure.views, [section]: records };
}

function toError(differences: readonly Difference[], subject: string): SurfaceError {
  const issues = differences.map((difference) => ({
    path: [difference.section, difference.name, difference.field].filter((step) => step !== "").join("."),
    message: toSentence(difference),
  }));
  return exposureDiffers(issues, `${subject}: it differs from its lockfile`);
}

/** Returns the seal of an app that must expose what an exposure says. */
function toSeal(exposure: AppExposure): AppSeal {
  return (definition, app): MountedGate => {
    const reader = new ExposureReader(definition, app);
    const steady = (of: AppExposure): AppExposure => toSteady(of, app.views.canChange);
    const [was, is] = [steady(exposure), steady(reader.read())];
    const differences = compareExposures(withoutMounted(was), is);
    if (differences.length > 0)
      throw toError(differences, `Cannot open the app over surface "${definition.surface.name}"`);
    const assertLocked = (section: "tools" | "resources", records: ExposureRecords, origin: string): void => {
      const known = Object.keys(records).flatMap((name) => {
        const fields = getOwn(was[section], name);
        return fields === undefined ? [] : [[name, fields] as const];
      });
      const before = only(was, section, Object.fromEntries(known));
      const found = compareExposures(before, steady(only(is, section, records)));
      if (found.length > 0) throw toError(found, `Cannot show ${origin}`);
    };
    return {
      assertTool(tool) {
        if (tool.isInternal !== true) assertLocked("tools", reader.tools([tool]), tool.origin);
      },
      assertResource: (resource) => assertLocked("resources", reader.resources([resource]), resource.origin),
    };
  };
}

/**
 * Returns the app, held to its lockfile: it opens only if everything that agents can reach is as `surface-mcp lock` wrote it. A
 * mounted entry that is not locked, or that is locked otherwise, is left out and reported as a fault, whenever it comes; one that is
 * locked may be absent. View rules of a source are not compared, because they may change while the app runs.
 *
 * @param lockfile - a path, a `file:` URL, or the parsed JSON. Read at once, and compared when the app is opened.
 * @throws Refusal `LOCKFILE` for a file that cannot be read, was edited, or has a newer format; SurfaceError `INVALID_OPTION`; when the
 * app is opened `EXPOSURE_DIFFERS`, whose `issues` name each difference.
 * @example
 * ```ts
 * import { locked } from "surface-mcp/lock";
 *
 * await locked(app, new URL("./exposure.lock.json", import.meta.url)).serve();
 * ```
 */
export function locked<TApp extends ServableApp>(app: TApp, lockfile: string | URL | object): TApp {
  if (!isApp(app)) throw invalidOption(doing, "its first argument is not an app");
  const { [kDefinition]: definition } = app;
  if (definition.lock !== undefined) throw invalidOption(doing, "the app has a lockfile already; call it once");
  // One class is behind every stage.
  return toApp({ ...definition, lock: toSeal(readLocked(lockfile, doing)) }) as unknown as TApp;
}
