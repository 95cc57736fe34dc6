import type { kDefinition, AppDefinition, McpOptions } from "../../src/builder/app-definition.ts";
import { mcp } from "../../src/builder/mcp.ts";
import type { AnyBespokePrompt } from "../../src/catalog/custom/bespoke-prompt.ts";
import type { AnyBespokeResource } from "../../src/catalog/custom/bespoke-resource.ts";
import type { AnyBespokeTool } from "../../src/catalog/custom/bespoke-tool.ts";
import type { ExposeValue } from "../../src/catalog/expose.ts";
import type { MountSource } from "../../src/catalog/mounts/mount.ts";
import { compareExposures } from "../../src/lock/compare-exposures.ts";
import type { Difference } from "../../src/lock/difference.ts";
import type { AppExposure } from "../../src/lock/exposure.ts";
import { readExposure } from "../../src/lock/read-exposure.ts";
import { defineSurface, type Surface } from "../../src/surface/define-surface.ts";
import type { Spec } from "../../src/surface/member.ts";
import type { ConfirmOptions } from "../../src/tags/tool-options.ts";
import type { ViewsInput } from "../../src/views/view-rules.ts";
import type { ViewsOptions } from "../../src/builder/view-names.ts";

/** The parts of an app, each left out by default. */
export interface Sample {
  readonly surface?: string;
  readonly members?: Spec;
  readonly options?: McpOptions;
  readonly expose?: Readonly<Record<string, ExposeValue>>;
  readonly tools?: Readonly<Record<string, AnyBespokeTool>>;
  readonly prompts?: Readonly<Record<string, AnyBespokePrompt>>;
  readonly resources?: Readonly<Record<string, AnyBespokeResource>>;
  readonly mounts?: Readonly<Record<string, MountSource>>;
  readonly views?: ViewsInput;
  readonly viewsOptions?: ViewsOptions;
  readonly confirm?: ConfirmOptions;
  readonly pull?: boolean;
}

/** An app in every stage, as far as these tests chain it. */
interface AnyApp {
  readonly [kDefinition]: AppDefinition;
  bridge(link: { connect(): Promise<never> }): AnyApp;
  expose(map: object): AnyApp;
  tools(more: object): AnyApp;
  prompts(more: object): AnyApp;
  resources(more: object): AnyApp;
  mount(prefix: string, source: MountSource): AnyApp;
  views(input: ViewsInput, options?: ViewsOptions): AnyApp;
  confirm(which: "mutating", options?: ConfirmOptions): AnyApp;
  pull(): AnyApp;
}

/** Members of a sample have no literal keys. */
const define = defineSurface as (name: string, members: Spec) => Surface<Spec>;

/** Number of connections that were opened: none may be. */
export const opened: { count: number } = { count: 0 };

function connect(): Promise<never> {
  opened.count += 1;
  return Promise.reject(new Error("there is no application"));
}

/** The steps of a sample, in the order of the chain. */
function stepsOf(sample: Sample): readonly ((app: AnyApp) => AnyApp)[] {
  const { expose = {}, tools = {}, prompts = {}, resources = {}, mounts = {}, views, confirm } = sample;
  return [
    (app) => app.bridge({ connect }).expose(expose).tools(tools).prompts(prompts).resources(resources),
    ...Object.entries(mounts).map(
      ([prefix, source]) =>
        (app: AnyApp) =>
          app.mount(prefix, source),
    ),
    (app) => (views === undefined ? app : app.views(views, sample.viewsOptions)),
    (app) => (confirm === undefined ? app : app.confirm("mutating", confirm)),
    (app) => (sample.pull === true ? app.pull() : app),
  ];
}

/** Builds an app whose link fails. */
export function appOf(sample: Sample): AnyApp {
  const { surface = "s", members = {}, options = {} } = sample;
  // A sample has members of every kind, which no type of a stage knows.
  const app = mcp(define(surface, members), options) as unknown as AnyApp;
  return stepsOf(sample).reduce((before, step) => step(before), app);
}

export function exposureOf(sample: Sample): AppExposure {
  return readExposure(appOf(sample));
}

/** One difference as a line: the axes, the record, the change and the field. */
export function toLine({ reach, contract, section, name, change, field }: Difference): string {
  return `${reach}, ${contract}: ${section} ${name} ${change} ${field}`.trimEnd();
}

/** The differences of two apps, as lines. */
export function diff(before: Sample, after: Sample): readonly string[] {
  return compareExposures(exposureOf(before), exposureOf(after)).map(toLine);
}
