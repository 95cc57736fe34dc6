import { ObservedPart } from "./observed-part.ts";
import type { AgenticService } from "./service-shape.ts";

/** What is observed of a service. */
export type PartName = "actions" | "states" | "links";

/** A service's observables, each observed once for the whole process. */
export type ServiceParts = Readonly<Record<PartName, ObservedPart>>;

const known = new WeakMap<AgenticService, ServiceParts>();

function toPart(service: AgenticService, name: PartName): ObservedPart {
  return new ObservedPart((notify) => {
    const observe: unknown = service[name];
    // Without links there is nothing to observe, and nothing to end.
    return typeof observe === "function" ? Reflect.apply(observe, service, [notify]) : () => {};
  });
}

/**
 * The observables of a service: the same ones for everybody who asks, however many apps show it and however many links lead to
 * it. By the service and not by its methods: those of a class are the same for all.
 */
export function partsOf(service: AgenticService): ServiceParts {
  let parts = known.get(service);
  if (parts === undefined) {
    parts = Object.freeze({
      actions: toPart(service, "actions"),
      states: toPart(service, "states"),
      links: toPart(service, "links"),
    });
    known.set(service, parts);
  }
  return parts;
}
