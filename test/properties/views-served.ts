import type { Caller } from "../../src/surface/caller.ts";
import { bearer, http } from "../../src/http/index.ts";
import type { ViewReplay } from "../../src/index.ts";
import { createWorld, type RandomThing, type RandomWorld, type World } from "./views-world.ts";

const resource = "https://world.example/mcp";

/** A world that is served, and asked of in the words of whoever comes. */
export interface ServedWorld extends World {
  /** With the view in it. */
  readonly url: string;
  readonly token: string | undefined;
  readonly caller: Caller;
  readonly replay: () => ViewReplay;
  /** Whether there is anything of a sort, for anybody: clients ask for no list of what an app has none of. */
  readonly has: (sort: RandomThing["sort"]) => boolean;
}

/** Serves a world for as long as something is done with it. */
export async function withWorld<TResult>(
  drawn: RandomWorld,
  use: (served: ServedWorld) => Promise<TResult>,
): Promise<TResult> {
  const world = createWorld(drawn);
  const { surface, project, granted } = drawn;
  const verify = async (): Promise<object> => ({ id: "ann", resource, ...granted });
  const options = { port: 0, exit: false, drainMs: 0, rateLimit: false } as const;
  // What a verifier may answer, as far as it was drawn.
  const auth = granted && { auth: bearer({ resource, verify: verify as never }) };
  const serving = await http({ ...options, ...auth }).serve(world.app);
  const view = { surface, client: { name: "scenario", version: "1" }, ...(project === undefined ? {} : { project }) };
  const who = { id: granted ? "ann" : "anonymous", isAnonymous: granted === undefined, scopes: [], ...granted };
  const caller: Caller = { ...who, view };
  const query = project === undefined ? "" : `&project=${project}`;
  try {
    return await use({
      ...world,
      caller,
      url: `${serving.url}?surface=${surface}${query}`,
      token: granted && "a-token",
      replay: () => world.app.replay({ caller }),
      has: (sort) => drawn.things.some((thing) => thing.sort === sort),
    });
  } finally {
    await serving.close();
  }
}
