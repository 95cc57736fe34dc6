import { SurfaceError } from "../errors.ts";
import { isObject } from "../options/is-object.ts";
import { memberOf, type Surface } from "../surface/define-surface.ts";
import type { Member, MemberOfKind, Spec } from "../surface/member.ts";
import { assertEffect, readResourceOptions, readToolOptions } from "../tags/read-tag-options.ts";
import { tagOf, type Effect } from "../tags/tag-of.ts";
import { freezeConfirm } from "../tags/confirm.ts";
import { freezeDisplayMetadata } from "../tags/display-metadata.ts";
import { freezeScopes } from "../tags/scopes.ts";
import {
  syntheticFields,
  type CollectionResourceOptions,
  type TagOptions,
  type ToolOptions,
} from "../tags/tool-options.ts";
import { freezeUi } from "../tags/tool-ui.ts";
import { hasArgument } from "./entry-scopes.ts";
import type { ExposeValue } from "./expose.ts";
import { kindMappings } from "./kinds/kind-mappings.ts";
import { toToolInput } from "./tool-schemas.ts";

/** The decision to expose one member, and how. */
export interface MemberExposure {
  readonly key: string;
  readonly member: Member;
  readonly as: "resource" | "tool";
  readonly effect: Effect;
  readonly options: TagOptions;
}

/** Returns the exposures by the tags of a surface. */
export function readTags(surface: Surface<Spec>): readonly MemberExposure[] {
  return Object.entries(surface.members).flatMap(([key, member]) => {
    const { exposure, effect, options } = tagOf(member);
    if (exposure === "none") return [];
    assertExposable(key, member, exposure);
    return [{ key, member, as: exposure, effect, options }];
  });
}

/** Returns the options of an expose value that has only these. */
function optionsAt(value: unknown, as: "resource" | "tool"): object | undefined {
  if (!isObject(value) || Object.keys(value).length !== 1) return undefined;
  const options: unknown = Reflect.get(value, as);
  return isObject(options) ? options : undefined;
}

/** Reads an expose value. @throws SurfaceError `INVALID_OPTION`, or `WRONG_KIND` for an option of another kind. */
function readValue(key: string, kind: string, value: unknown): Pick<MemberExposure, "as" | "options"> {
  if (value === "resource" || value === "tool") return { as: value, options: {} };
  const givenTool: ToolOptions | undefined = optionsAt(value, "tool");
  if (givenTool !== undefined) {
    const tool = readToolOptions(givenTool, `Cannot expose "${key}"`);
    return { as: "tool", options: { ...tool, ...freezeScopes(tool), ...freezeConfirm(tool), ...freezeUi(tool) } };
  }
  const givenResource: CollectionResourceOptions | undefined = optionsAt(value, "resource");
  if (givenResource !== undefined) {
    const resource = readResourceOptions(kind, givenResource, `Cannot expose "${key}"`);
    return { as: "resource", options: { ...resource, ...freezeDisplayMetadata(resource), ...freezeScopes(resource) } };
  }
  throw new SurfaceError(
    "INVALID_OPTION",
    `Cannot expose "${key}": its value must be "resource", "tool", { tool: { … } } or { resource: { … } }`,
  );
}

function assertExposable(key: string, member: Member, as: "resource" | "tool"): void {
  const mapping = kindMappings[member.kind];
  if ((as === "tool" ? mapping.asTool : mapping.asResource) === undefined) {
    throw new SurfaceError("WRONG_KIND", `Cannot expose "${key}": a ${member.kind} cannot be a ${as}`);
  }
  if (as === "tool" && (member.kind === "event" || member.kind === "stream")) assertNoSyntheticField(key, member);
}

function assertNoSyntheticField(key: string, member: MemberOfKind<"event" | "stream">): void {
  if (member.input === undefined) return;
  const input = toToolInput(member.input, key);
  const taken = syntheticFields[member.kind].find((field) => hasArgument(input, field));
  if (taken === undefined) return;
  throw new SurfaceError(
    "NAME_COLLISION",
    `Cannot expose "${key}" as a tool: its input field "${taken}" has the name of an argument that every ${member.kind} tool takes`,
  );
}

/** Returns the exposures by an expose map. Each error is a compile error, too. @throws SurfaceError with a boot code. */
export function readExposeMap(
  surface: Surface<Spec>,
  expose: Readonly<Record<string, ExposeValue | undefined>>,
): readonly MemberExposure[] {
  if (typeof expose !== "object" || expose === null || Array.isArray(expose)) {
    throw new SurfaceError(
      "INVALID_OPTION",
      `Cannot expose members of surface "${surface.name}": expose() takes an object of members by key; pass for example { key: "tool" }`,
    );
  }
  return Object.entries(expose).flatMap(([key, value]) => {
    const member = memberOf(surface, key);
    if (member === undefined) {
      throw new SurfaceError("UNKNOWN_MEMBER", `Cannot expose "${key}": surface "${surface.name}" has no such member`);
    }
    if (value === undefined) return [];
    const tag = tagOf(member);
    if (tag.exposure !== "none") {
      throw new SurfaceError("ALREADY_EXPOSED", `Cannot expose "${key}": it is tagged already, as a ${tag.exposure}`);
    }
    const { as, options } = readValue(key, member.kind, value);
    assertExposable(key, member, as);
    assertEffect(member, options, `Cannot expose "${key}"`);
    return [{ key, member, as, effect: tag.effect, options }];
  });
}
