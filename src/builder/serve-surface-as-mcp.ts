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
import type { AppNames, MountsChecked, WithContext, WithMounts } from "./app-names.ts";
import type { PromptsArgument, ResourcesArgument, ToolsArgument } from "./hand-arguments.ts";
import { mcp } from "./mcp.ts";
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

/** The options of {@link serveSurfaceAsMcp} that do not affect names. */
export interface ServeSurfaceOptions<TSpec extends Spec> extends McpOptions {
  readonly surface: Surface<TSpec>;
  readonly link: NotLive & Link;
  /** @default stdio */
  readonly target?: ServeTarget;
  /** The arguments of `confirm()`. @default only tools that set `confirm` */
  readonly confirm?: "mutating" | ConfirmOptions;
}

/** The names after `pull()`, if it may be called. */
type PulledNames<TSpec, TPull> = true extends TPull ? WithPull<TagNames<TSpec>> : TagNames<TSpec>;

type ExposeProblems<TSpec extends Spec, TPull, TExpose> = ExposeTyped<TSpec> &
  ExposeChecked<TSpec, TExpose> &
  ExposeCollisions<TSpec, PulledNames<TSpec, TPull>, TExpose> &
  LiteralKeys<TExpose>;

/** The names after `expose()` and `context()`. */
type ContextNames<TSpec, TPull, TExpose, TContext> = WithContext<
  WithExposed<TSpec, PulledNames<TSpec, TPull>, TExpose>,
  TContext
>;

type ToolsOption<TSpec, TPull, TExpose, TContext, TTools, TInputs, TOutputs, TReaches> = ToolsArgument<
  TSpec,
  ContextNames<TSpec, TPull, TExpose, TContext>,
  TTools,
  TInputs,
  TOutputs,
  TReaches
>;

/** The names after `tools()`. */
type ToolsNames<TSpec, TPull, TExpose, TTools, TInputs> = WithTools<
  WithExposed<TSpec, PulledNames<TSpec, TPull>, TExpose>,
  TTools,
  TInputs
>;

/** The names that views may use: those after all steps before `views()`. */
type ViewableNames<
  TNames extends AppNames,
  TPrompts extends string | number,
  TResources extends string | number,
  TMounts,
> = WithMounts<WithResources<WithPrompts<TNames, TPrompts>, TResources>, TMounts>;

/** The app at run time, the same object in every stage. */
interface App {
  bridge(link: Link): App;
  expose(map: object): App;
  pull(): App;
  context(factory: ContextFactory): App;
  confirm(which: "mutating", options?: ConfirmOptions): App;
  tools(tools: object): App;
  prompts(prompts: object): App;
  resources(resources: object): App;
  mount(prefix: string, source: MountSource): App;
  views(views: ViewsInput, options?: ViewsOptions): App;
  serve(target?: ServeTarget): Promise<Serving>;
}

/** The options at run time. */
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
  const doing = `Cannot serve surface "${surface.name}"`;
  if (pull !== undefined && typeof pull !== "boolean") {
    throw new SurfaceError("INVALID_OPTION", `${doing}: "pull" must be true or false`);
  }
  if (replay !== undefined && views === undefined) {
    throw new SurfaceError("INVALID_OPTION", `${doing}: "replay" needs "views"; add views, or leave "replay" out`);
  }
}

/** Takes the steps that come before handlers. */
function start(app: App, { link, expose = {}, pull, context, confirm }: Given): App {
  let next = app.bridge(link).expose(expose);
  if (pull === true) next = next.pull();
  if (context !== undefined) next = next.context(context);
  if (confirm === undefined) return next;
  return typeof confirm === "string" ? next.confirm(confirm) : next.confirm("mutating", confirm);
}

function toApp(given: Given): App {
  const { surface, link: _link, expose: _expose, pull: _pull, context: _context, confirm: _confirm, ...rest } = given;
  const { target: _target, tools = {}, prompts = {}, resources = {}, mounts = {}, views, replay, ...options } = rest;
  assertOptions(given);
  // One class is behind every stage.
  let app = start(mcp(surface, options) as unknown as App, given);
  app = app.tools(tools).prompts(prompts).resources(resources);
  for (const [prefix, source] of Object.entries(mounts)) app = app.mount(prefix, source);
  if (views === undefined) return app;
  return replay === undefined ? app.views(views) : app.views(views, { replay });
}

/**
 * Bridges a surface and serves it: `mcp(surface).bridge(link).expose(…).pull().context(…).confirm(…)`, then `.tools(…)`,
 * `.prompts(…)`, `.resources(…)`, `.mount(…)` for each mount, `.views(…)` and `.serve()`.
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
    /** As in `expose()`. @default only tagged members */
    readonly expose?: $Expose & ExposeProblems<TSpec, $Pull, $Expose>;
    /** Adds the tools of `pull()`. @default false */
    readonly pull?: $Pull & (true extends $Pull ? PullProblem<TagNames<TSpec>> : unknown);
    /** As in `context()`. Annotate the parameter of the factory: `(call: ContextCall) => …`. @default in memory */
    readonly context?: ContextFactory<$Context>;
    /** As in `tools()`. */
    readonly tools?: ToolsOption<TSpec, $Pull, $Expose, NoInfer<$Context>, $Tools, $Inputs, $Outputs, $Reaches>;
    /** As in `prompts()`. */
    readonly prompts?: PromptsArgument<TSpec, WithContext<TagNames<TSpec>, NoInfer<$Context>>, $Prompts, $PromptInputs>;
    /** As in `resources()`. */
    readonly resources?: ResourcesArgument<
      TSpec,
      ContextNames<TSpec, false, $Expose, NoInfer<$Context>>,
      $Resources,
      $Variables
    >;
    /** As in `mount()`, by prefix. */
    readonly mounts?: $Mounts & MountsChecked<ToolsNames<TSpec, $Pull, $Expose, $Tools, $Inputs>, $Mounts>;
    /** As in `views()`. @default the default view shows everything */
    readonly views?: $Views &
      ViewsChecked<
        ViewableNames<ToolsNames<TSpec, $Pull, $Expose, $Tools, $Inputs>, $Prompts, $Resources, $Mounts>,
        $Views,
        $Replay
      >;
    /** Adds the tool `replay`, as in `views()`. @default false */
    readonly replay?: ReplayArgument<
      ViewableNames<ToolsNames<TSpec, $Pull, $Expose, $Tools, $Inputs>, $Prompts, $Resources, $Mounts>,
      $Views,
      $Replay
    >;
  },
): Promise<Serving> {
  // The parameters of this function check what those of the stages check.
  const given = options as unknown as Given;
  return toApp(given).serve(given.target);
}
