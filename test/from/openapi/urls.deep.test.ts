import { expect, it } from "vitest";
import { checkUrls } from "./url-properties.ts";

it(
  "keeps the shape and the origin of its template for 100,000 random path and query values",
  { timeout: 300_000 },
  () => {
    expect(checkUrls(100_000)).toBeGreaterThan(10_000);
  },
);
