import { parseArgs } from "node:util";
import { sample } from "fast-check";
import { tryLive } from "./live-exposure.ts";
import { randomSurface } from "./random-surface.ts";
import { disagreements } from "./reachability.ts";

const { values } = parseArgs({
  options: {
    surfaces: { type: "string", default: "100000" },
    /** Tries this many requests while view rules change, instead of surfaces. */
    requests: { type: "string" },
    seed: { type: "string", default: "1" },
  },
});

// Some of the names are ones that the package warns about.
console.error = () => {};

const surfaces = Number(values.surfaces);
const atOnce = 1000;

/** Tries one surface after the other; stops at the first that can be reached otherwise than it is exposed. */
async function tryAll(): Promise<void> {
  let tried = 0;
  for (let seed = Number(values.seed); tried < surfaces; seed += 1) {
    for (const surface of sample(randomSurface, { numRuns: Math.min(atOnce, surfaces - tried), seed })) {
      const found = await disagreements(surface);
      tried += 1;
      if (process.stdout.isTTY) process.stdout.write(`\r${tried} of ${surfaces}`);
      if (found.length === 0) continue;
      console.log(`\nseed ${seed}: ${JSON.stringify(surface)}\n${found.join("\n")}`);
      process.exitCode = 1;
      return;
    }
  }
  console.log(`\n${tried} surfaces: what can be reached is what is exposed, nothing more and nothing less`);
}

/** Tries random requests while view rules change; stops at the first response that differs from the oracle. */
async function tryRequests(requests: number): Promise<void> {
  console.log(`from seed ${values.seed}`);
  const { seed, counts, wrong } = await tryLive(Number(values.seed), requests);
  console.log(JSON.stringify(counts));
  if (wrong.length > 0) {
    console.log(`seed ${seed}: ${wrong.join("\n")}`);
    process.exitCode = 1;
    return;
  }
  console.log(
    `${counts.requests} requests, up to seed ${seed}: each response is within its caller's view, hidden and absent are equal`,
  );
}

await (values.requests === undefined ? tryAll() : tryRequests(Number(values.requests)));
