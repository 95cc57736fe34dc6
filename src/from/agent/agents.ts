import type { MountSource } from "../../catalog/mount.ts";
import { operationRegistry, type RegisteredOperation } from "../../catalog/operation-registry.ts";

/**
 * Makes one source of several agents, to be mounted together. Nothing to close.
 *
 * @throws SurfaceError `NAME_COLLISION` where two of them have one name, also on the wire.
 */
export function agents(...sources: readonly MountSource[]): MountSource {
  const all = sources.flatMap((source) =>
    source
      .list()
      .map((operation): RegisteredOperation => [
        operation,
        (input: unknown, call) => source.invoke(operation.name, input, call),
      ]),
  );
  return operationRegistry(all);
}
