import { parseArgs } from "node:util";
import { unknownView } from "../views/unknown-view.ts";
import { refused, usage } from "./cli-errors.ts";
import type { CliSetting } from "./cli-setting.ts";
import { loadApp } from "./load-app.ts";
import { renderReplay } from "./render-replay.ts";

const options = {
  surface: { type: "string" },
  project: { type: "string" },
  json: { type: "boolean" },
} as const;

/**
 * Writes what an app would show by a view, and what hides the rest, without serving it.
 *
 * @throws Refusal `USAGE` or `REFUSED`, the latter also behind a replay, where nobody has defined the view. What the app's module throws goes on as it is.
 */
export async function replay(args: readonly string[], setting: CliSetting): Promise<void> {
  const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true, strict: true });
  const [module, ...more] = positionals;
  if (module === undefined || more.length > 0) throw usage(`Replaying: one module that exports an app must be named`);
  const app = await loadApp(module, setting.cwd);
  const { surface, project, json } = values;
  const replayed = app.replay({
    ...(surface === undefined ? {} : { surface }),
    ...(project === undefined ? {} : { project }),
  });
  setting.write(json === true ? `${JSON.stringify(replayed, null, 2)}\n` : renderReplay(replayed, setting.isTerminal));
  const { entity, verdict } = replayed;
  if (verdict.kind === "deny" && verdict.reason === unknownView) {
    throw refused(`Replaying: the app has no view "${entity.surface}"`);
  }
}
