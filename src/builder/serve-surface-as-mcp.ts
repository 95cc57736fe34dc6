import type { ExposeChecked, ExposeValue } from "../catalog/expose.ts";
import type { Link } from "../links/link.ts";
import type { ServeTarget, Serving } from "../mcp/servable-app.ts";
import type { LiteralKeys, Surface } from "../surface/define-surface.ts";
import type { Spec } from "../surface/member.ts";
import { type McpOptions } from "./app-definition.ts";
import { mcp } from "./mcp.ts";
import type { ExposeCollisions, TagNames, ToolsArgument, WithExposed } from "./stages.ts";

/** What {@link serveSurfaceAsMcp} takes, besides `expose` and `tools`, which are those of the chain. */
export interface ServeSurfaceOptions<TSpec extends Spec> extends McpOptions {
  readonly surface: Surface<TSpec>;
  readonly link: Link;
  /** Where to serve. Default: standard input and output. */
  readonly target?: ServeTarget;
}

/** The chain as it is at run time, where every stage is the same object. */
interface Chain {
  bridge(link: Link): Chain;
  expose(map: object): Chain;
  tools(tools: object): Chain;
  serve(target?: ServeTarget): Promise<Serving>;
}

/**
 * Bridges a surface and serves it, in one call: `mcp(surface).bridge(link).expose(…).tools(…).serve()` and nothing else.
 *
 * @throws SurfaceError with a boot code, before anything is served.
 * @example
 * ```ts
 * await serveSurfaceAsMcp({ surface: counter, link: inProcess(live), expose: { reset: "tool" } });
 * ```
 */
export async function serveSurfaceAsMcp<
  TSpec extends Spec,
  const $Expose extends Readonly<Record<string, ExposeValue | undefined>> = Record<never, never>,
  const $Keys extends string | number = never,
  const $Inputs = Record<never, never>,
  const $Tools = Record<never, never>,
>(
  options: ServeSurfaceOptions<TSpec> & {
    /** As in `expose()`. Default: only what is tagged. */
    readonly expose?: $Expose &
      ExposeChecked<TSpec, $Expose> &
      ExposeCollisions<TagNames<TSpec>, $Expose> &
      LiteralKeys<$Expose>;
    /** As in `tools()`. Default: none. */
    readonly tools?: ToolsArgument<TSpec, WithExposed<TSpec, TagNames<TSpec>, $Expose>, $Keys, $Inputs, $Tools>;
  },
): Promise<Serving> {
  const { surface, link, expose, tools, target, ...rest } = options;
  // The arguments were checked by this function's own parameters, stage by stage.
  const app = mcp(surface, rest) as unknown as Chain;
  const exposed = app.bridge(link).expose(expose ?? {});
  return exposed.tools(tools ?? {}).serve(target);
}
