/**
 * What the types of a surface cost the compiler: `npm run bench:types`, or `node bench/types.mjs 100` for sizes of your
 * own.
 *
 * Generates surfaces as authors write them, checks each with one checker (so that the count is exact and the same in
 * every run), and holds the count against the budget. Exits 1 when a size is over budget or the cost grows faster than
 * the surface does. Projections, members with handlers, and tools, prompts, resources and operations written by hand have
 * budgets of their own. Times are shown and not judged: they depend on the machine.
 */
import { routerKinds } from "./router-source.mjs";
import { measureHandlerCost, measureProjectionCost, measureRouterCost, measureTypeCost } from "./type-cost.mjs";

const budget = Number(process.env.TYPE_BUDGET ?? 300);
/** Of a projected member, besides both surfaces. */
const projectionBudget = 420;
/** Of an exposed procedure of a router, or operation of a document, besides the router or the document's types. */
const procedureBudget = Number(process.env.PROCEDURE_BUDGET ?? 400);
/** How much dearer a member of the largest surface may be than one of the smallest before growth is not linear. */
const maxGrowth = 1.15;

/** Instantiations of the first entry with a handler, and of each further one, by kind. */
const handlerBudgets = {
  tools: { first: 2800, each: 1200 },
  prompts: { first: 1300, each: 850 },
  resources: { first: 1150, each: 800 },
  operations: { first: 750, each: 230 },
  "members with handlers": { first: 1350, each: 370 },
};

const asked = process.argv.slice(2).map(Number);
const rows = await measureTypeCost(asked.length > 0 ? asked : [100, 500, 1000]);
const [smallest, largest] = [rows[0], rows.at(-1)];
const growth = largest.perMember / smallest.perMember;

console.log(`instantiations a member: budget ${budget}; of which the schemas alone, for comparison\n`);
console.table(
  Object.fromEntries(
    rows.map((row) => [
      `${row.members} members`,
      {
        "a member": Math.round(row.perMember),
        "schemas alone": Math.round(row.schemasPerMember),
        "in all": row.instantiations,
        "check s": row.checkSeconds,
        "memory MB": row.memoryMb,
      },
    ]),
  ),
);
console.log(
  `growth from ${smallest.members} to ${largest.members} members: ${growth.toFixed(2)}x (limit ${maxGrowth}x)`,
);

const over = rows.filter((row) => row.perMember > budget);
for (const row of over) console.error(`over budget: ${row.members} members cost ${row.perMember.toFixed(0)} each`);
if (growth > maxGrowth) console.error("not linear: a member of a large surface costs more than one of a small surface");
// What members cost is part of all that follows.
if (over.length > 0 || growth > maxGrowth) process.exit(1);

const projection = await measureProjectionCost(100);
console.log(
  `a projection of ${projection.members} members: ${projection.perMember.toFixed(0)} a member besides both surfaces (budget ${projectionBudget})`,
);

const isProjectionDear = projection.perMember > projectionBudget;
if (isProjectionDear) console.error("over budget: a projected member");

let isProcedureDear = false;
for (const kind of routerKinds) {
  const { procedures, perProcedure, checkSeconds } = await measureRouterCost(kind, largest.members);
  const cost = `${perProcedure.toFixed(0)} each besides the source (budget ${procedureBudget}), check ${checkSeconds} s`;
  console.log(`${kind}: ${procedures} procedures or operations, all exposed: ${cost}`);
  if (perProcedure <= procedureBudget) continue;
  isProcedureDear = true;
  console.error(`over budget: an exposed procedure or operation of ${kind}`);
}

const handlers = await measureHandlerCost(50);
console.log("\ninstantiations of an entry with a schema and a handler: the first of its kind, and each further one");
console.table(Object.fromEntries(handlers.map(({ kind, first, each }) => [kind, { first, each: Math.round(each) }])));
const dear = handlers.filter(({ kind, first, each }) => {
  const { [kind]: limit } = handlerBudgets;
  return first > limit.first || each > limit.each;
});
for (const { kind } of dear) {
  const { first, each } = handlerBudgets[kind];
  console.error(`over budget: ${kind}, of which the first may cost ${first} and each further one ${each}`);
}
process.exitCode = isProjectionDear || isProcedureDear || dear.length > 0 ? 1 : 0;
