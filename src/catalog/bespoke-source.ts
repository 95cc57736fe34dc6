import type { SurfaceClient } from "../surface/client.ts";
import type { DefaultScopes } from "./entry-scopes.ts";

/** What the entries of tools, prompts and resources that are no members are made of. */
export interface BespokeSource {
  readonly client: SurfaceClient<unknown>;
  readonly scopes: DefaultScopes;
}
