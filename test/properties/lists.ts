import type { JsonValue } from "../../src/schema/json.ts";
import { differences } from "./differences.ts";
import type { Door, OpenDoor } from "./door.ts";
import type { Exposure } from "./exposure.ts";
import { surfaceName, wireNameOf, type RandomSurface } from "./random-surface.ts";

/** What lists are compared by. */
interface Listing {
  readonly door: Door;
  readonly open: OpenDoor;
  readonly ran: Set<string>;
  readonly ambient: ReadonlySet<string>;
  readonly surface: RandomSurface;
  readonly exposure: Exposure;
}

function named(items: JsonValue | undefined, field: string): ReadonlySet<string> {
  return new Set(Array.isArray(items) ? items.map((item) => String(Reflect.get(Object(item), field))) : []);
}

const uriOf = (name: string): string => `surface://${surfaceName}/${name}`;

function resourcesOf({ members, written }: RandomSurface, exposure: Exposure): readonly string[] {
  const listed = new Set(exposure.listedKeys);
  return [
    ...members.flatMap(({ key, kind, shown, hasInput }) => {
      if (shown !== "resource" || (hasInput && kind !== "collection")) return [];
      return [uriOf(key), ...(listed.has(key) ? [`${uriOf(key)}/a`] : [])];
    }),
    ...written.filter(({ sort, hasInput }) => sort === "resource" && !hasInput).map(({ name }) => uriOf(name)),
  ];
}

function templatesOf({ members, written }: RandomSurface): readonly string[] {
  return [
    ...members.flatMap(({ key, kind, shown, hasInput }) => {
      if (shown !== "resource") return [];
      if (kind === "collection") return [`${uriOf(key)}/{key}`];
      return hasInput ? [`${uriOf(key)}/{value}`] : [];
    }),
    ...written
      .filter(({ sort, hasInput }) => sort === "resource" && hasInput)
      .map(({ name }) => `${uriOf(name)}/{value}`),
  ];
}

function toolsOf({ members, written, pull }: RandomSurface): readonly string[] {
  return [
    ...members.filter(({ shown }) => shown === "tool").map(({ key }) => wireNameOf(key)),
    ...written.filter(({ sort }) => sort === "tool").map(({ name }) => wireNameOf(name)),
    ...(pull ? ["read_resource", "wait_for_change"] : []),
  ];
}

/** Whether what an app lists is what it exposes, and listing runs nothing but what is listed because it is there. */
export async function checkLists({ door, open, ran, ambient, surface, exposure }: Listing): Promise<readonly string[]> {
  ran.clear();
  const prompts = surface.written.filter(({ sort }) => sort === "prompt").map(({ name }) => wireNameOf(name));
  const lists: readonly (readonly [string, string, string, readonly string[]])[] = [
    ["tools/list", "tools", "name", toolsOf(surface)],
    ["resources/list", "resources", "uri", resourcesOf(surface, exposure)],
    ["resources/templates/list", "resourceTemplates", "uriTemplate", templatesOf(surface)],
    ["prompts/list", "prompts", "name", prompts],
  ];
  const wrong: string[] = [];
  for (const [method, key, field, expected] of lists) {
    const { result } = await open.ask(method, {});
    wrong.push(...differences(`${door.name}, ${method}`, named(result?.[key], field), new Set(expected)));
  }
  const allowed = [...ran].filter((operation) => ambient.has(operation));
  return [...wrong, ...differences(`${door.name}, lists`, ran, new Set(allowed))];
}
