import { unknownView } from "../views/compile-rules.ts";
import { refused } from "./cli-errors.ts";
import type { CliSetting } from "./cli-setting.ts";
import { loadApp } from "./load-app.ts";
import { readReplayArgs } from "./read-replay-args.ts";
import { renderReplay } from "./render-replay.ts";

/**
 * Writes what an app would show by a view, and what hides the rest, without serving it.
 *
 * @throws Refusal `USAGE` or `REFUSED`, the latter also behind a replay, where nobody has defined the view. What the app's
 * module throws goes on as it is.
 */
export async function replay(args: readonly string[], setting: CliSetting): Promise<void> {
  const { module, options, isJson } = readReplayArgs(args);
  const app = await loadApp(module, setting.cwd);
  const replayed = app.replay(options);
  setting.write(isJson ? `${JSON.stringify(replayed, null, 2)}\n` : renderReplay(replayed, setting.isTerminal));
  const { entity, verdict } = replayed;
  if (verdict.kind === "deny" && verdict.reason === unknownView) {
    throw refused(`Replaying: the app has no view "${entity.surface}"`);
  }
}
