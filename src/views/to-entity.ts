import { defaultView, type Caller } from "../surface/caller.ts";
import type { ViewEntity } from "./view-rules.ts";

const nobody: ViewEntity = Object.freeze({ surface: defaultView });

/** What rules are asked about, of a caller: what is not known of them is left out. */
export function toEntity(caller: Caller): ViewEntity {
  const { view, isAnonymous, id } = caller;
  if (view === undefined && isAnonymous) return nobody;
  const { surface = defaultView, userAgent, project, client } = view ?? {};
  return Object.freeze({
    surface,
    ...(userAgent === undefined ? {} : { user_agent: userAgent }),
    ...(project === undefined ? {} : { project }),
    ...(client === undefined ? {} : { client }),
    ...(isAnonymous ? {} : { principal: id }),
  });
}
