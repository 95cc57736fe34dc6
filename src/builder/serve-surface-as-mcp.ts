import type { ExposeChecked, ExposeValue } from "../catalog/expose.ts";
import type { MountSource } from "../catalog/mount.ts";
import { SurfaceError } from "../errors.ts";
import type { Link } from "../links/link.ts";
import type { ServeTarget, Serving } from "../mcp/servable-app.ts";
import type { LiteralKeys, Surface } from "../surface/define-surface.ts";
import type { Spec } from "../surface/member.ts";
import type { ViewsInput } from "../views/views-input.ts";
import { type McpOptions } from "./app-definition.ts";
import type { AppNames } from "./app-names.ts";
import { mcp } from "./mcp.ts";
import type { MountsChecked, WithMounts } from "./mount-names.ts";
import type {
  ExposeCollisions,
  PromptsArgument,
  PullProblem,
  ResourcesArgument,
  TagNames,
  ToolsArgument,
  WithExposed,
  WithPrompts,
  WithPull,
  WithResources,
  WithTools,
} from "./stages.ts";
import type { ReplayArgument, ViewsChecked, ViewsOptions } from "./view-names.ts";

/** What {@link serveSurfaceAsMcp} takes, besides what is that of the chain. */
export interface ServeSurfaceOptions<TSpec extends Spec> extends McpOptions {
  readonly surface: Surface<TSpec>;
  readonly link: Link;
  /** Where to serve. Default: standard input and output. */
  readonly target?: ServeTarget;
}

/** The names of a surface's own tags, and those of `pull()` where it may be called. */
type PulledNames<TSpec, TPull> = true extends TPull ? WithPull<TagNames<TSpec>> : TagNames<TSpec>;

/** The names after `tools()`. */
type ToldNames<TSpec, TPull, TExpose, TKeys extends string | number, TInputs, TTools> = WithTools<
  WithExposed<TSpec, PulledNames<TSpec, TPull>, TExpose>,
  TKeys,
  TInputs,
  TTools
>;

/** The names that views may speak of: those of tools, and what comes after them. */
type ViewableNames<
  TNames extends AppNames,
  TPrompts extends string | number,
  TResources extends string | number,
  TMounts,
> = WithMounts<WithResources<WithPrompts<TNames, TPrompts>, TResources>, TMounts>;

/** The chain as it is at run time, where every stage is the same object. */
interface Chain {
  bridge(link: Link): Chain;
  expose(map: object): Chain;
  pull(): Chain;
  tools(tools: object): Chain;
  prompts(prompts: object): Chain;
  resources(resources: object): Chain;
  mount(prefix: string, source: MountSource): Chain;
  views(views: ViewsInput, options?: ViewsOptions): Chain;
  serve(target?: ServeTarget): Promise<Serving>;
}

/** What is given, as it is at run time. */
interface Given extends McpOptions {
  readonly surface: Surface<Spec>;
  readonly link: Link;
  readonly target?: ServeTarget;
  readonly expose?: object;
  readonly pull?: boolean;
  readonly tools?: object;
  readonly prompts?: object;
  readonly resources?: object;
  readonly mounts?: Readonly<Record<string, MountSource>>;
  readonly views?: ViewsInput;
  readonly replay?: boolean;
}

function assertTold({ surface, pull, views, replay }: Given): void {
  if (pull !== undefined && typeof pull !== "boolean") {
    throw new SurfaceError("INVALID_OPTION", `Serving surface "${surface.name}": "pull" must be true or false`);
  }
  if (replay !== undefined && views === undefined) {
    throw new SurfaceError("INVALID_OPTION", `Serving surface "${surface.name}": "replay" is nothing without "views"`);
  }
}

function toChain(given: Omit<Given, "target">): Chain {
  const { surface, link, expose = {}, pull, tools = {}, prompts = {}, resources = {}, ...more } = given;
  const { mounts = {}, views, replay, ...rest } = more;
  assertTold(given);
  // Every stage is one object, which has the methods of all.
  const app = mcp(surface, rest) as unknown as Chain;
  const exposed = app.bridge(link).expose(expose);
  const pulled = pull === true ? exposed.pull() : exposed;
  const written = pulled.tools(tools).prompts(prompts).resources(resources);
  const mounted = Object.entries(mounts).reduce((chain, [prefix, source]) => chain.mount(prefix, source), written);
  if (views === undefined) return mounted;
  return replay === undefined ? mounted.views(views) : mounted.views(views, { replay });
}

/**
 * Bridges a surface and serves it, in one call: `mcp(surface).bridge(link).expose(…).pull().tools(…).prompts(…).resources(…)`, then
 * `.mount(…)` for each mount and `.views(…)`, then `.serve()`, and nothing else.
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
  const $Mounts extends Readonly<Record<string, MountSource>> = Record<never, never>,
  const $Views extends ViewsInput | undefined = undefined,
  const $Replay extends boolean = false,
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
    /** As in `mount()`, by prefix. Default: none. */
    readonly mounts?: $Mounts & MountsChecked<ToldNames<TSpec, $Pull, $Expose, $Keys, $Inputs, $Tools>, $Mounts>;
    /** As in `views()`. Default: there is the default view, of everything. */
    readonly views?: $Views &
      ViewsChecked<
        ViewableNames<ToldNames<TSpec, $Pull, $Expose, $Keys, $Inputs, $Tools>, $Prompts, $Resources, $Mounts>,
        $Views,
        $Replay
      >;
    /** Whether to add the tool `replay`, as in `views()`. Default `false`. */
    readonly replay?: ReplayArgument<
      ViewableNames<ToldNames<TSpec, $Pull, $Expose, $Keys, $Inputs, $Tools>, $Prompts, $Resources, $Mounts>,
      $Views,
      $Replay
    >;
  },
): Promise<Serving> {
  // The arguments were checked by this function's own parameters, stage by stage.
  const { target, ...given } = options as unknown as Given;
  return toChain(given).serve(target);
}
