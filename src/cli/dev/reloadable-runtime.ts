import { listNames } from "../../mcp/lists.ts";
import type { AppRuntime } from "../../mcp/servable-app.ts";

/** An open app whose clients can be told that everything may have changed. */
export interface ReloadableRuntime {
  readonly runtime: AppRuntime;
  /** Announces a change of every list, and of every resource that a client watches. */
  announce(this: void): void;
}

/** Wraps an open app that another version of the app will replace. It promises its clients that each of its lists can change. */
export function toReloadable(runtime: AppRuntime): ReloadableRuntime {
  const { resources, handlers } = runtime;
  const watching = new Set<() => void>();
  const watch = (changed: () => void, stop: () => void): (() => void) => {
    watching.add(changed);
    return () => {
      watching.delete(changed);
      stop();
    };
  };
  return {
    runtime: {
      ...runtime,
      changing: new Set(listNames.filter((list) => handlers[`${list}/list`] !== undefined)),
      resources: {
        has: (caller, uri) => resources.has(caller, uri),
        hasRoom: (caller, uris) => resources.hasRoom(caller, uris),
        lacking: (caller, uri) => resources.lacking(caller, uri),
        watchList: (caller, list, changed) => watch(changed, resources.watchList(caller, list, changed)),
        watch(caller, uri, told) {
          const stop = resources.watch(caller, uri, told);
          return stop && watch(() => told.changed(), stop);
        },
      },
    },
    announce() {
      for (const changed of watching) changed();
    },
  };
}
