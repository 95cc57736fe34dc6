import { pullOrigin, pullToolNames } from "../catalog/pull-tool-names.ts";
import { toWireName } from "../catalog/wire-name.ts";
import { SurfaceError } from "../errors.ts";
import type { AppDefinition } from "./app-definition.ts";

/** Names of one sort, with where they come from. */
type Claims = Map<string, string>;

function claim(claims: Claims, name: string, origin: string): void {
  const taken = claims.get(name);
  if (taken !== undefined) {
    throw new SurfaceError("NAME_COLLISION", `Naming ${origin}: its name on the wire, "${name}", is taken by ${taken}`);
  }
  claims.set(name, origin);
}

function claimTools({ exposures, tools, pull }: AppDefinition): void {
  const claims: Claims = new Map();
  for (const { key, as, member } of exposures) {
    const origin = `${member.kind} "${key}"`;
    if (as === "tool") claim(claims, toWireName(key, { origin }), origin);
  }
  for (const [name, { allowDash }] of tools) {
    const origin = `tool "${name}"`;
    claim(claims, toWireName(name, { origin, allowDash: allowDash ?? false }), origin);
  }
  if (pull) for (const name of pullToolNames) claim(claims, name, pullOrigin(name));
}

function claimPrompts({ prompts }: AppDefinition): void {
  const claims: Claims = new Map();
  for (const name of prompts.keys()) {
    const origin = `prompt "${name}"`;
    claim(claims, toWireName(name, { origin }), origin);
  }
}

function claimResources({ exposures, resources }: AppDefinition): void {
  for (const { key, as, member } of exposures) {
    if (as !== "resource" || !resources.has(key)) continue;
    throw new SurfaceError("NAME_COLLISION", `Naming resource "${key}": its key is taken by ${member.kind} "${key}"`);
  }
}

/**
 * Refuses an app in which two things have one name: tools, prompts and resources each among themselves.
 *
 * @throws SurfaceError `NAME_COLLISION` naming both origins, `INVALID_NAME`.
 */
export function claimNames(definition: AppDefinition): void {
  claimTools(definition);
  claimPrompts(definition);
  claimResources(definition);
}
