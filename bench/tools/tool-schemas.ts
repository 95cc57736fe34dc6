import { z } from "zod";

/** What `echo` takes and answers. */
export const echoShape = z.object({ text: z.string() });

/** What `big` takes: five fields, nested. */
export const bigInput = z.object({
  query: z.object({ text: z.string(), states: z.array(z.enum(["open", "closed"])) }),
  page: z.object({ number: z.int().min(1), size: z.int().min(1).max(100) }),
  newestFirst: z.boolean(),
});

/** What `big` answers: about 10 kB of JSON. */
export const bigOutput = z.object({
  query: z.string(),
  rows: z.array(
    z.object({
      id: z.int(),
      name: z.string(),
      state: z.enum(["open", "closed"]),
      score: z.number(),
      tags: z.array(z.string()),
    }),
  ),
});

/** What `bump` answers. */
export const bumpOutput = z.object({ counter: z.int() });

/** What a generated tool takes. A schema of its own each, as a real server would have. */
export function createGeneratedInput(): z.ZodObject<{ id: z.ZodString; limit: z.ZodOptional<z.ZodInt> }> {
  return z.object({
    id: z.string().describe("Which one"),
    limit: z.int().min(1).max(500).optional().describe("How many at most"),
  });
}
