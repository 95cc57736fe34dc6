import { afterAll, vi } from "vitest";

// The next file runs in the same process, with the same globals.
afterAll(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
  vi.unstubAllEnvs();
});
