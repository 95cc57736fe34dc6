type Told = (message: unknown) => void;

function receiverOf(transport: object): unknown {
  return Reflect.get(transport, "onmessage");
}

/**
 * Has something told of every message that a transport of the SDK's receives, before its server has it: of a notification the
 * server tells one handler only, which may be its author's. `ours` must not throw. Returns what ends it.
 */
export function hookMessages(transport: unknown, ours: Told): () => void {
  const isThere = typeof transport === "object" && transport !== null;
  const theirs = isThere ? receiverOf(transport) : undefined;
  if (!isThere || typeof theirs !== "function") return () => {};
  let isOn = true;
  const both = (...message: unknown[]): unknown => {
    if (isOn) ours(message[0]);
    return Reflect.apply(theirs, transport, message);
  };
  Reflect.set(transport, "onmessage", both);
  return () => {
    isOn = false;
    // Whoever has wrapped it since goes on with what is within.
    if (receiverOf(transport) === both) Reflect.set(transport, "onmessage", theirs);
  };
}
