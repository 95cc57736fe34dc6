import { hunt, huntedSchedules } from "./hunt.ts";
import { mutants } from "./mutants.ts";

let survivors = 0;
for (const mutant of mutants) {
  const { schedule, invariant } = await hunt(mutant);
  const how = schedule === undefined ? `SURVIVES ${huntedSchedules}` : `${String(schedule).padStart(6)}  ${invariant}`;
  if (schedule === undefined) survivors += 1;
  console.log(mutant.name.padEnd(60), how);
}
console.log(`\n${mutants.length} bugs, ${mutants.length - survivors} caught`);
if (survivors > 0) process.exitCode = 1;
