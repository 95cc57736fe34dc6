import { parseArgs } from "node:util";
import { stdio, viewRulesFile } from "../../../src/index.ts";
import { createDaemon } from "./daemon-app.ts";

// The daemon over standard input and output, by the view and the packets that it is started with.
const { values } = parseArgs({
  options: { surface: { type: "string" }, project: { type: "string" }, packets: { type: "string", default: "" } },
});
const { surface, project, packets } = values;

await stdio({
  ...(surface === undefined ? {} : { surface }),
  ...(project === undefined ? {} : { project }),
}).serve(createDaemon(viewRulesFile(packets)).app);
