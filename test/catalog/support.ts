import type { Catalog } from "../../src/catalog/catalog.ts";
import { createCatalog } from "../../src/catalog/create-catalog.ts";
import type { AnyBespokePrompt } from "../../src/catalog/custom/bespoke-prompt.ts";
import type { AnyBespokeResource } from "../../src/catalog/custom/bespoke-resource.ts";
import type { AnyBespokeTool } from "../../src/catalog/custom/bespoke-tool.ts";
import type { ExposeValue } from "../../src/catalog/expose.ts";
import { readExposeMap, readTags } from "../../src/catalog/read-exposures.ts";
import { inProcess } from "../../src/links/in-process.ts";
import { ReconnectingSurface } from "../../src/links/reconnecting-surface.ts";
import type { SurfaceChannel } from "../../src/surface/channel.ts";
import type { SurfaceClient } from "../../src/surface/client.ts";
import { createClient } from "../../src/surface/create-client.ts";
import { defineSurface, type Surface } from "../../src/surface/define-surface.ts";
import type { FaultReporter } from "../../src/surface/fault.ts";
import { implementSurface } from "../../src/surface/implement-surface.ts";
import type { Implementation } from "../../src/surface/implementation.ts";
import type { Member, Spec } from "../../src/surface/member.ts";

/** What {@link catalogOf} may be told. */
export interface CatalogSetting {
  readonly expose?: Readonly<Record<string, ExposeValue>>;
  readonly tools?: Readonly<Record<string, AnyBespokeTool>>;
  readonly prompts?: Readonly<Record<string, AnyBespokePrompt>>;
  readonly resources?: Readonly<Record<string, AnyBespokeResource>>;
  readonly uriPrefix?: string;
  readonly report?: FaultReporter;
  /** Handlers by key: with them the entries work, without they only describe. */
  readonly handlers?: Readonly<Record<string, unknown>>;
}

/** A surface of members that are known only at run time. */
export function surfaceOf(members: Readonly<Record<string, Member>>): Surface<Spec> {
  // The compiler asks for literal keys; these tests build theirs.
  return defineSurface("probe", members as Record<never, never>) as Surface<Spec>;
}

const noChannel: SurfaceChannel = new Proxy(Object.freeze({}) as SurfaceChannel, {
  get: (_none, name) =>
    name === "as" ? undefined : () => Promise.reject(new TypeError("this catalog has no backend")),
});

function canCall(surface: Surface<Spec>, handlers: Readonly<Record<string, unknown>> | undefined): SurfaceChannel {
  if (handlers === undefined) return noChannel;
  // As in surfaceOf().
  const live = implementSurface(surface, handlers as Implementation<Spec>, { onFault: () => {} });
  return new ReconnectingSurface({ link: inProcess(live), surface: surface }).channel;
}

/** The catalog of some members, as an app would make it. */
export function catalogOf(members: Readonly<Record<string, Member>>, setting: CatalogSetting = {}): Catalog {
  const surface = surfaceOf(members);
  const channel = canCall(surface, setting.handlers);
  return createCatalog({
    surface: surface.name,
    exposures: [...readTags(surface), ...readExposeMap(surface, setting.expose ?? {})],
    tools: new Map(Object.entries(setting.tools ?? {})),
    prompts: new Map(Object.entries(setting.prompts ?? {})),
    resources: new Map(Object.entries(setting.resources ?? {})),
    uriPrefix: setting.uriPrefix ?? "surface://probe/",
    channel,
    client: createClient(surface, channel) as SurfaceClient<unknown>,
    report: setting.report ?? (() => {}),
  });
}

/** What somebody threw; fails when nobody did. */
export function thrownBy(run: () => unknown): unknown {
  try {
    run();
  } catch (cause) {
    return cause;
  }
  return "nothing was thrown";
}

/** A value that holds itself. */
export function cyclic(): unknown {
  const self: Record<string, unknown> = { secret: true };
  self["self"] = self;
  return self;
}
