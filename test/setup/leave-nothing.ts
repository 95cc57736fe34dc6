import { afterAll, afterEach, vi } from "vitest";
import { endTest } from "./end-of-test.ts";

// The next file runs in the same process, with the same globals. A hook of a support module would run for the first file
// that imports it only, so such modules register their work by atEndOfTest().
afterEach(endTest);

afterAll(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
  vi.unstubAllEnvs();
});
