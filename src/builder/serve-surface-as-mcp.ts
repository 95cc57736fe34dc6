import type { ExposeChecked, ExposeTyped } from "../catalog/expose.ts";
import type { Link } from "../links/link.ts";
import type { ServeTarget, Serving } from "../mcp/servable-app.ts";
import type { LiteralKeys, Surface } from "../surface/define-surface.ts";
import type { Spec } from "../surface/member.ts";
import type { McpOptions } from "./app-definition.ts";
import type { ToolsArgument } from "./hand-arguments.ts";
import { mcp } from "./mcp.ts";
import type { ExposeCollisions, NotLive, TagNames, WithExposed } from "./stages.ts";

/** The options of {@link serveSurfaceAsMcp} that do not affect names. */
export interface ServeSurfaceOptions<TSpec extends Spec> extends McpOptions {
  readonly surface: Surface<TSpec>;
  readonly link: NotLive & Link;
  /** @default stdio */
  readonly target?: ServeTarget;
}

type ExposeProblems<TSpec extends Spec, TExpose> = ExposeTyped<TSpec> &
  ExposeChecked<TSpec, TExpose> &
  ExposeCollisions<TSpec, TagNames<TSpec>, TExpose> &
  LiteralKeys<TExpose>;

/** The app at run time, the same object in every stage. */
interface App {
  bridge(link: Link): App;
  expose(map: object): App;
  tools(tools: object): App;
  serve(target?: ServeTarget): Promise<Serving>;
}

/** The options at run time. */
interface Given extends ServeSurfaceOptions<Spec> {
  readonly expose?: object;
  readonly tools?: object;
}

/**
 * Bridges a surface and serves it: `mcp(surface).bridge(link).expose(…).tools(…).serve()`. Write that chain for anything else, such as
 * prompts, mounts or views.
 *
 * @throws SurfaceError with a boot code, before the first request.
 * @example
 * ```ts
 * await serveSurfaceAsMcp({ surface: counter, link: inProcess(live), expose: { reset: "tool" } });
 * ```
 */
export async function serveSurfaceAsMcp<
  TSpec extends Spec,
  const $Expose extends object = Record<never, never>,
  const $Tools = unknown,
  const $Inputs = Record<never, never>,
  const $Outputs = Record<never, never>,
  const $Reaches = Record<never, never>,
>(
  options: ServeSurfaceOptions<TSpec> & {
    /** As in `expose()`. @default only tagged members */
    readonly expose?: $Expose & ExposeProblems<TSpec, $Expose>;
    /** As in `tools()`. */
    readonly tools?: ToolsArgument<
      TSpec,
      WithExposed<TSpec, TagNames<TSpec>, $Expose>,
      $Tools,
      $Inputs,
      $Outputs,
      $Reaches
    >;
  },
): Promise<Serving> {
  // The parameters of this function check what those of the stages check.
  const { surface, link, target, expose = {}, tools = {}, ...rest } = options as unknown as Given;
  // One class is behind every stage.
  const app = mcp(surface, rest) as unknown as App;
  return app.bridge(link).expose(expose).tools(tools).serve(target);
}
