import { defaultView } from "../surface/caller.ts";
import { SurfaceError } from "../errors.ts";
import { didYouMean } from "../tags/assert-known-options.ts";
import type { Views } from "./decision.ts";

/**
 * Refuses the name of a view that no rule can match, where a program and not a client chooses the view. Rules that cannot be
 * read yet deny everyone until they can be, so no name is refused then.
 *
 * @param doing - the action of the caller, the start of the message.
 * @throws SurfaceError `INVALID_OPTION` naming views that may have been meant.
 */
export function assertViewName(views: Views, name: string, doing: string): void {
  const { installed } = views;
  if (name === defaultView || installed.kind === "unreadable") return;
  const rules = installed.packets.flatMap((packet) => packet.rules);
  if (rules.some(({ when, verdict }) => when?.surface === undefined && verdict.kind !== "deny")) return;
  const known = [...new Set([defaultView, ...rules.flatMap(({ when }) => when?.surface ?? [])])];
  if (known.includes(name)) return;
  throw new SurfaceError("INVALID_OPTION", `${doing}: there is no view "${name}"${didYouMean(name, known)}`);
}
