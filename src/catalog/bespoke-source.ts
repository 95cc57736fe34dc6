import type { SurfaceClient } from "../surface/client.ts";
import type { DefaultScopes } from "./entry-scopes.ts";
import type { ContextSource } from "./own-context.ts";

/** What the entries of tools, prompts and resources that are no members are made of. */
export interface BespokeSource {
  readonly client: SurfaceClient<unknown>;
  readonly scopes: DefaultScopes;
  /** Where handlers have from what is their own. Default: in memory. */
  readonly contexts?: ContextSource | undefined;
}
