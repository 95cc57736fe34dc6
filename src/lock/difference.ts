import type { JsonValue } from "../schema/json.ts";
import type { Section } from "./exposure.ts";

/** The effect of a change on the reach of agents. A changed text counts as widening, because models follow it. */
export type ReachEffect = "widens" | "narrows" | "same";

/** The effect of a change on agents that use an entry as it was. */
export type ContractEffect = "breaking" | "compatible";

/** The two axes of a change. */
export interface Axes {
  readonly reach: ReachEffect;
  readonly contract: ContractEffect;
}

/** The name of a combination of the axes. */
type AxesName = "widens" | "breaks" | "narrows" | "replaces" | "differs" | "neutral";

/** The combinations of the axes. */
export const axes: Readonly<Record<AxesName, Axes>> = {
  /** Agents can do more. */
  widens: { reach: "widens", contract: "compatible" },
  /** Agents can do less, which they may notice. */
  breaks: { reach: "narrows", contract: "breaking" },
  /** Agents can do less, with nothing that they use now. */
  narrows: { reach: "narrows", contract: "compatible" },
  /** Both: agents can do other things. Also for changes whose direction is unknown. */
  replaces: { reach: "widens", contract: "breaking" },
  /** Agents can do the same in another way. */
  differs: { reach: "same", contract: "breaking" },
  neutral: { reach: "same", contract: "compatible" },
};

/** A change of one field. */
export interface Change extends Axes {
  /** The steps from the field to the changed part; empty for the field itself. */
  readonly path: readonly string[];
  /** Left out if there was nothing. */
  readonly before?: JsonValue | undefined;
  /** Left out if there is nothing. */
  readonly after?: JsonValue | undefined;
}

/** A difference between two exposures. */
export interface Difference extends Axes {
  readonly section: Section;
  /** The name of the record: a wire name, a URI, a prefix, or the name of a view. */
  readonly name: string;
  readonly change: "added" | "removed" | "renamed" | "changed";
  /** The changed field, for example `input.limit`; empty unless `change` is `"changed"`. */
  readonly field: string;
  readonly before?: JsonValue | undefined;
  readonly after?: JsonValue | undefined;
}

/** Returns the keys of two versions of an object, sorted. */
export function keysOf(before: object, after: object): readonly string[] {
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].toSorted();
}
