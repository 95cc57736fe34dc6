import type { ExposeChecked, ExposeValue } from "../catalog/expose.ts";
import { SurfaceError } from "../errors.ts";
import type { Link } from "../links/link.ts";
import type { ServeTarget, Serving } from "../mcp/servable-app.ts";
import type { LiteralKeys, Surface } from "../surface/define-surface.ts";
import type { Spec } from "../surface/member.ts";
import { type McpOptions } from "./app-definition.ts";
import { mcp } from "./mcp.ts";
import type {
  ExposeCollisions,
  PromptsArgument,
  PullProblem,
  ResourcesArgument,
  TagNames,
  ToolsArgument,
  WithExposed,
  WithPull,
} from "./stages.ts";

/** What {@link serveSurfaceAsMcp} takes, besides what is that of the chain. */
export interface ServeSurfaceOptions<TSpec extends Spec> extends McpOptions {
  readonly surface: Surface<TSpec>;
  readonly link: Link;
  /** Where to serve. Default: standard input and output. */
  readonly target?: ServeTarget;
}

/** The names of a surface's own tags, and those of `pull()` where it may be called. */
type PulledNames<TSpec, TPull> = true extends TPull ? WithPull<TagNames<TSpec>> : TagNames<TSpec>;

/** The chain as it is at run time, where every stage is the same object. */
interface Chain {
  bridge(link: Link): Chain;
  expose(map: object): Chain;
  pull(): Chain;
  tools(tools: object): Chain;
  prompts(prompts: object): Chain;
  resources(resources: object): Chain;
  serve(target?: ServeTarget): Promise<Serving>;
}

/**
 * Bridges a surface and serves it, in one call: `mcp(surface).bridge(link).expose(…).pull().tools(…).prompts(…).resources(…).serve()`
 * and nothing else.
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
  const $Pull extends boolean = false,
  const $Prompts extends string | number = never,
  const $PromptInputs = Record<never, never>,
  const $Resources extends string | number = never,
  const $Variables = Record<never, never>,
>(
  options: ServeSurfaceOptions<TSpec> & {
    /** As in `expose()`. Default: only what is tagged. */
    readonly expose?: $Expose &
      ExposeChecked<TSpec, $Expose> &
      ExposeCollisions<PulledNames<TSpec, $Pull>, $Expose> &
      LiteralKeys<$Expose>;
    /** Whether to add the tools of `pull()`. Default `false`. */
    readonly pull?: $Pull & (true extends $Pull ? PullProblem<TagNames<TSpec>> : unknown);
    /** As in `tools()`. Default: none. */
    readonly tools?: ToolsArgument<
      TSpec,
      WithExposed<TSpec, PulledNames<TSpec, $Pull>, $Expose>,
      $Keys,
      $Inputs,
      $Tools
    >;
    /** As in `prompts()`. Default: none. */
    readonly prompts?: PromptsArgument<TSpec, TagNames<TSpec>, $Prompts, $PromptInputs>;
    /** As in `resources()`. Default: none. */
    readonly resources?: ResourcesArgument<TSpec, WithExposed<TSpec, TagNames<TSpec>, $Expose>, $Resources, $Variables>;
  },
): Promise<Serving> {
  const { surface, link, expose, tools, prompts, resources, target, pull, ...rest } = options;
  if (pull !== undefined && typeof pull !== "boolean") {
    throw new SurfaceError("INVALID_OPTION", `Serving surface "${surface.name}": "pull" must be true or false`);
  }
  // The arguments were checked by this function's own parameters, stage by stage.
  const app = mcp(surface, rest) as unknown as Chain;
  const exposed = app.bridge(link).expose(expose ?? {});
  const pulled = pull === true ? exposed.pull() : exposed;
  const written = pulled
    .tools(tools ?? {})
    .prompts(prompts ?? {})
    .resources(resources ?? {});
  return written.serve(target);
}
