import { choosingView, anonymous, type Caller } from "../surface/caller.ts";
import { SurfaceError } from "../errors.ts";
import { HeldSurface } from "../links/held-surface.ts";
import type { Link } from "../links/link.ts";
import { isRecord } from "../options/is-object.ts";
import { filledText, option, type OptionFields } from "../options/option.ts";
import { readOptions } from "../options/read-options.ts";
import { Scope } from "../spine/scope.ts";
import { internalError, reportToConsole, toSafeReporter } from "../surface/fault.ts";
import { replayView, type ViewReplay } from "../views/replay-view.ts";
import type { AppDefinition } from "./app-definition.ts";
import { assembleViews } from "./assemble-app.ts";

/** Of whom `app.replay()` is asked. */
export interface ReplayOptions {
  /** The view that they come by. Default: the caller's own, else `default`. */
  readonly surface?: string;
  readonly project?: string;
  /** Who they are. Default: somebody of whom nothing is known. */
  readonly caller?: Caller;
}

const nowhere: Link = Object.freeze({
  connect: () => Promise.reject(new SurfaceError("UNAVAILABLE", "Replaying a view: nothing is connected for it")),
});

const fields: OptionFields<ReplayOptions> = {
  surface: filledText,
  project: filledText,
  caller: option("an object", isRecord),
};

/**
 * Tells what somebody would be shown of an app, by its rules and mounts as they are now. Opens nothing that outlives it: neither
 * a connection nor what implements the surface.
 *
 * @throws SurfaceError with a boot code, `INVALID_OPTION` for options that are none.
 */
export function replayApp(definition: AppDefinition, options: ReplayOptions = {}): ViewReplay {
  const { caller = anonymous, ...asked } = readOptions(options, fields, "Calling replay()");
  const { surface } = definition;
  const report = toSafeReporter(definition.options.onFault ?? reportToConsole);
  const scope = new Scope(`a replay of the app over surface "${surface.name}"`);
  try {
    const held = new HeldSurface({ link: nowhere, surface });
    scope.add(() => held.close());
    const { views, live } = assembleViews({ definition, held, report, scope });
    return replayView({ views, catalog: live.current, caller: choosingView(caller, asked) });
  } finally {
    // Nothing was connected, so that there is nothing to wait for.
    void scope.close().catch((cause: unknown) => void internalError(cause, "replaying a view", report));
  }
}
