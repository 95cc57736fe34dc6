/** What a server of the SDK's tells whoever sets a property of it. */
export type HookName = "onclose" | "oninitialized";

type Told = (message: unknown) => void;

function join(ours: Told, theirs: unknown, server: object): Told {
  return (message) => {
    ours(message);
    const answer: unknown = typeof theirs === "function" ? Reflect.apply(theirs, server, [message]) : undefined;
    return answer;
  };
}

/**
 * Has something told before whatever a property of a server is set to, whenever that is set: authors set theirs before or after
 * they attach, and neither is to take the other's place. `ours` must not throw. Returns what ends it, and leaves theirs.
 */
export function hook(server: object, name: HookName, ours: Told): () => void {
  let theirs: unknown = Reflect.get(server, name);
  // As of when it was set: whoever wraps what is there must not be told by himself.
  let both = join(ours, theirs, server);
  Object.defineProperty(server, name, {
    configurable: true,
    enumerable: true,
    get: () => both,
    set(next: unknown) {
      theirs = next;
      both = join(ours, next, server);
    },
  });
  return () => {
    Object.defineProperty(server, name, { configurable: true, enumerable: true, writable: true, value: theirs });
  };
}
