import type { ExposeChecked, ExposeTyped } from "../catalog/expose.ts";
import type { MountSource } from "../catalog/mounts/mount.ts";
import type { MemoryContext } from "../catalog/context/memory-context.ts";
import type { ContextFactory } from "../catalog/context/own-context.ts";
import { SurfaceError } from "../errors.ts";
import type { Link } from "../links/link.ts";
import type { ServeTarget, Serving } from "../mcp/servable-app.ts";
import type { LiteralKeys, Surface } from "../surface/define-surface.ts";
import type { Spec } from "../surface/member.ts";
import type { ConfirmOptions } from "../tags/tool-options.ts";
import type { ViewsInput } from "../views/view-rules.ts";
import type { McpOptions } from "./app-definition.ts";
import type { AppNames } from "./app-names.ts";
import { mcp } from "./mcp.ts";
import type { PromptsArgument, ResourcesArgument, ToolsArgument } from "./hand-arguments.ts";
import type { MountsChecked, WithMounts } from "./mount-names.ts";
import type { WithContext } from "./once-names.ts";
import type {
  ExposeCollisions,
  NotLive,
  PullProblem,
  TagNames,
  WithExposed,
  WithPrompts,
  WithPull,
  WithResources,
  WithTools,
} from "./stages.ts";
import type { ReplayArgument, ViewsChecked, ViewsOptions } from "./view-names.ts";

/** What {@link serveSurfaceAsMcp} takes, besides what names are made of. */
export interface ServeSurfaceOptions<TSpec extends Spec> extends McpOptions {
  readonly surface: Surface<TSpec>;
  readonly link: NotLive & Link;
  /** Where to serve. Default: standard input and output. */
  readonly target?: ServeTarget;
  /** As in `confirm()`: `"mutating"`, or its options. Default: only what tools say of themselves. */
  readonly confirm?: "mutating" | ConfirmOptions;
}

/** The names of a surface's own tags, and those of `pull()` where it may be called. */
type PulledNames<TSpec, TPull> = true extends TPull ? WithPull<TagNames<TSpec>> : TagNames<TSpec>;

type ExposeObjections<TSpec extends Spec, TPull, TExpose> = ExposeTyped<TSpec> &
  ExposeChecked<TSpec, TExpose> &
  ExposeCollisions<TSpec, PulledNames<TSpec, TPull>, TExpose> &
  LiteralKeys<TExpose>;

/** The names of a surface's own tags and of an expose map, for handlers that have something of their own. */
type Owning<TSpec, TPull, TExpose, TContext> = WithContext<
  WithExposed<TSpec, PulledNames<TSpec, TPull>, TExpose>,
  TContext
>;

type OwnTools<TSpec, TPull, TExpose, TContext, TTools, TInputs, TOutputs, TReaches> = ToolsArgument<
  TSpec,
  Owning<TSpec, TPull, TExpose, TContext>,
  TTools,
  TInputs,
  TOutputs,
  TReaches
>;

/** The names after `tools()`. */
type ToldNames<TSpec, TPull, TExpose, TTools, TInputs> = WithTools<
  WithExposed<TSpec, PulledNames<TSpec, TPull>, TExpose>,
  TTools,
  TInputs
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
  context(factory: ContextFactory): Chain;
  confirm(which: "mutating", options?: ConfirmOptions): Chain;
  tools(tools: object): Chain;
  prompts(prompts: object): Chain;
  resources(resources: object): Chain;
  mount(prefix: string, source: MountSource): Chain;
  views(views: ViewsInput, options?: ViewsOptions): Chain;
  serve(target?: ServeTarget): Promise<Serving>;
}

/** The options as they are at run time. */
interface Given extends ServeSurfaceOptions<Spec> {
  readonly expose?: object;
  readonly pull?: boolean;
  readonly context?: ContextFactory;
  readonly tools?: object;
  readonly prompts?: object;
  readonly resources?: object;
  readonly mounts?: Readonly<Record<string, MountSource>>;
  readonly views?: ViewsInput;
  readonly replay?: boolean;
}

function assertOptions({ surface, pull, views, replay }: Given): void {
  if (pull !== undefined && typeof pull !== "boolean") {
    throw new SurfaceError("INVALID_OPTION", `Serving surface "${surface.name}": "pull" must be true or false`);
  }
  if (replay !== undefined && views === undefined) {
    throw new SurfaceError("INVALID_OPTION", `Serving surface "${surface.name}": "replay" is nothing without "views"`);
  }
}

/** Takes the steps before handlers, which depend on them. */
function start(app: Chain, { link, expose = {}, pull, context, confirm }: Given): Chain {
  const bridged = app.bridge(link).expose(expose);
  const pulled = pull === true ? bridged.pull() : bridged;
  const owning = context === undefined ? pulled : pulled.context(context);
  if (confirm === undefined) return owning;
  return typeof confirm === "string" ? owning.confirm(confirm) : owning.confirm("mutating", confirm);
}

function toChain(given: Given): Chain {
  const { surface, tools = {}, prompts = {}, resources = {}, mounts = {}, views, replay, ...more } = given;
  const {
    target: _target,
    link: _link,
    expose: _expose,
    pull: _pull,
    context: _context,
    confirm: _confirm,
    ...options
  } = more;
  assertOptions(given);
  // Every stage is this class.
  let app = start(mcp(surface, options) as unknown as Chain, given);
  app = app.tools(tools).prompts(prompts).resources(resources);
  for (const [prefix, source] of Object.entries(mounts)) app = app.mount(prefix, source);
  if (views === undefined) return app;
  return replay === undefined ? app.views(views) : app.views(views, { replay });
}

/**
 * Bridges a surface and serves it, in one call: `mcp(surface).bridge(link).expose(…).pull().context(…).confirm(…)`, then `.tools(…)`,
 * `.prompts(…)` and `.resources(…)`, `.mount(…)` for each mount and `.views(…)`, then `.serve()`, and nothing else.
 *
 * @throws SurfaceError with a boot code, before anything is served.
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
  const $Pull extends boolean = false,
  const $Prompts extends string | number = never,
  const $PromptInputs = Record<never, never>,
  const $Resources extends string | number = never,
  const $Variables = Record<never, never>,
  const $Mounts extends Readonly<Record<string, MountSource>> = Record<never, never>,
  const $Views extends ViewsInput | undefined = undefined,
  const $Replay extends boolean = false,
  $Context = MemoryContext,
>(
  options: ServeSurfaceOptions<TSpec> & {
    /** As in `expose()`. Default: only what is tagged. */
    readonly expose?: $Expose & ExposeObjections<TSpec, $Pull, $Expose>;
    /** Whether to add the tools of `pull()`. Default `false`. */
    readonly pull?: $Pull & (true extends $Pull ? PullProblem<TagNames<TSpec>> : unknown);
    /** As in `context()`; a factory that looks at the call says so: `(call: ContextCall) => …`. Default: in memory. */
    readonly context?: ContextFactory<$Context>;
    /** As in `tools()`. Default: none. */
    readonly tools?: OwnTools<TSpec, $Pull, $Expose, NoInfer<$Context>, $Tools, $Inputs, $Outputs, $Reaches>;
    /** As in `prompts()`. Default: none. */
    readonly prompts?: PromptsArgument<TSpec, WithContext<TagNames<TSpec>, NoInfer<$Context>>, $Prompts, $PromptInputs>;
    /** As in `resources()`. Default: none. */
    readonly resources?: ResourcesArgument<
      TSpec,
      Owning<TSpec, false, $Expose, NoInfer<$Context>>,
      $Resources,
      $Variables
    >;
    /** As in `mount()`, by prefix. Default: none. */
    readonly mounts?: $Mounts & MountsChecked<ToldNames<TSpec, $Pull, $Expose, $Tools, $Inputs>, $Mounts>;
    /** As in `views()`. Default: there is the default view, of everything. */
    readonly views?: $Views &
      ViewsChecked<
        ViewableNames<ToldNames<TSpec, $Pull, $Expose, $Tools, $Inputs>, $Prompts, $Resources, $Mounts>,
        $Views,
        $Replay
      >;
    /** Whether to add the tool `replay`, as in `views()`. Default `false`. */
    readonly replay?: ReplayArgument<
      ViewableNames<ToldNames<TSpec, $Pull, $Expose, $Tools, $Inputs>, $Prompts, $Resources, $Mounts>,
      $Views,
      $Replay
    >;
  },
): Promise<Serving> {
  // The arguments were checked by this function's own parameters, stage by stage.
  const given = options as unknown as Given;
  return toChain(given).serve(given.target);
}
