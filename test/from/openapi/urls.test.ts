import { expect, it } from "vitest";
import { checkUrls } from "./url-properties.ts";

it("keeps the shape and the origin of its template for random path and query values", () => {
  expect(checkUrls(2000)).toBeGreaterThan(200);
});
