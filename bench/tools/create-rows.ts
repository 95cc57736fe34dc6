import type { z } from "zod";
import type { bigOutput } from "./tool-schemas.ts";

/** The rows of a large result. */
export type Rows = z.output<typeof bigOutput>["rows"];

/** Makes the rows that `big` answers with: as JSON about 10 kB. */
export function createRows(): Rows {
  return Array.from({ length: 96 }, (_, index) => ({
    id: 100_000 + index,
    name: `entry ${String(index).padStart(3, "0")} of the large result`,
    state: index % 3 === 0 ? "closed" : "open",
    score: index / 8,
    tags: ["alpha", `t${index % 7}`],
  }));
}
