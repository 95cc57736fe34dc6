import { parseArgs } from "node:util";
import { sample } from "fast-check";
import { randomSurface } from "./random-surface.ts";
import { disagreements } from "./reachability.ts";

const { values } = parseArgs({
  options: { surfaces: { type: "string", default: "100000" }, seed: { type: "string", default: "1" } },
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

await tryAll();
