import { gatewayOrigin, gatewayToolNames, replayOrigin, replayToolName } from "../catalog/own-tool-names.ts";
import { mountOrigin, takesName } from "../catalog/mounts/mounted-names.ts";
import { pullOrigin, pullToolNames } from "../catalog/resources/pull-tools.ts";
import { toWireName } from "../catalog/wire-name.ts";
import { SurfaceError } from "../errors.ts";
import { findGateway } from "../views/views.ts";
import type { AppDefinition } from "./app-definition.ts";

type Claims = Map<string, string>;

function claim(claims: Claims, name: string, origin: string): void {
  const taken = claims.get(name);
  if (taken !== undefined) {
    throw new SurfaceError("NAME_COLLISION", `Naming ${origin}: its name on the wire, "${name}", is taken by ${taken}`);
  }
  claims.set(name, origin);
}

/** Claims all names that begin with the prefix of a mount: no one knows which of them will be there. */
function claimMounts(claims: Claims, mounts: AppDefinition["mounts"]): void {
  const origins = new Map(Array.from(mounts.keys(), (prefix) => [prefix, mountOrigin(prefix)] as const));
  for (const [prefix, origin] of origins) {
    for (const [name, taken] of [...claims, ...origins]) {
      if (taken === origin || !takesName(prefix, name)) continue;
      throw new SurfaceError(
        "NAME_COLLISION",
        `Naming ${origin}: "${name}", which begins as its names do, is taken by ${taken}`,
      );
    }
  }
}

/** Claims the names of a gateway's tools if a view shows a gateway, or may show one later: a source may get other rules. */
function claimGateway(claims: Claims, views: AppDefinition["views"]): void {
  const isLater = views !== undefined && "get" in views;
  if (views === undefined || (!isLater && findGateway(views) === undefined)) return;
  const when = isLater ? ", which rules may turn on later" : "";
  for (const name of gatewayToolNames) claim(claims, name, `${gatewayOrigin(name)}${when}`);
}

function claimTools({ exposures, tools, pull, views, replay, mounts }: AppDefinition): void {
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
  claimGateway(claims, views);
  if (replay) claim(claims, replayToolName, replayOrigin);
  claimMounts(claims, mounts);
}

/**
 * Refuses an app in which two things have one name: tools, prompts and resources each among themselves.
 *
 * @throws SurfaceError `NAME_COLLISION` naming both origins, `INVALID_NAME`.
 */
export function claimNames(definition: AppDefinition): void {
  const { exposures, prompts, resources } = definition;
  claimTools(definition);
  const claims: Claims = new Map();
  for (const name of prompts.keys()) {
    const origin = `prompt "${name}"`;
    claim(claims, toWireName(name, { origin }), origin);
  }
  for (const { key, as, member } of exposures) {
    if (as !== "resource" || !resources.has(key)) continue;
    throw new SurfaceError("NAME_COLLISION", `Naming resource "${key}": its key is taken by ${member.kind} "${key}"`);
  }
}
