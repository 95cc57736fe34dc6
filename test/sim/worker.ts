import { parentPort } from "node:worker_threads";
import { type Batch, simulate } from "./simulate.ts";

// Errors of the spine are made by the million here, and nobody reads their stacks.
Error.stackTraceLimit = 0;

// Batches come one at a time: one is asked for by answering the one before.
parentPort?.on("message", (batch: Batch) => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  parentPort?.postMessage(simulate(batch));
});
