import type { Commands } from "./open-session.ts";
import { openBridged, openInProcess, type OwnedSession, watchCounter, type WatchedSession } from "./owned-session.ts";
import type { Era } from "./requests.ts";

/** How the value is served: by ours over a bridge, by ours in its own process, by hand in its own process. */
export type Way = "bridged" | "inProcess" | "written";

/** All ways, in the order in which they take turns. */
export const ways: readonly Way[] = ["bridged", "inProcess", "written"];

const openers: { readonly [TWay in Way]: (commands: Commands, era: Era) => Promise<OwnedSession> } = {
  bridged: ({ ours }, era) => openBridged(ours, era),
  inProcess: ({ ours }, era) => openInProcess(ours, era),
  written: ({ written }, era) => openInProcess(written, era),
};

/** Runs `work` with a session of each way, and stops them all. */
export async function withWays<TResult>(
  commands: Commands,
  era: Era,
  work: (sessions: Readonly<Record<Way, OwnedSession>>) => Promise<TResult>,
): Promise<TResult> {
  const opened: OwnedSession[] = [];
  const open = async (way: Way): Promise<OwnedSession> => {
    const session = await openers[way](commands, era);
    opened.push(session);
    return session;
  };
  try {
    return await work({
      bridged: await open("bridged"),
      inProcess: await open("inProcess"),
      written: await open("written"),
    });
  } finally {
    await Promise.all(opened.map((session) => session.stop()));
  }
}

/** As {@link withWays}, and each session watches the counter. */
export function withWatchedWays<TResult>(
  commands: Commands,
  era: Era,
  work: (sessions: Readonly<Record<Way, WatchedSession>>) => Promise<TResult>,
): Promise<TResult> {
  return withWays(commands, era, async ({ bridged, inProcess, written }) =>
    work({
      bridged: await watchCounter(bridged, era),
      inProcess: await watchCounter(inProcess, era),
      written: await watchCounter(written, era),
    }),
  );
}
