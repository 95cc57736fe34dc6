import { z } from "zod";

const Count = z.number();

/** What a face that serves over HTTP says of itself, when it is asked over the channel that it was started with. */
export const FaceFigures = z.object({
  stats: z.object({
    sessions: Count,
    streams: Count,
    dropped: Count,
    stages: z.record(z.string(), Count),
  }),
  /** Of the nodes, at the coordinator. */
  watches: z.object({ open: Count, most: Count, opened: Count }),
});

/** {@link FaceFigures}, as they were read. */
export type FaceFiguresView = z.output<typeof FaceFigures>;
