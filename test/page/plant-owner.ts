/** The process that has the plant: it serves a Unix socket until it is killed. */
import { once } from "node:events";
import { cellSource, implementSurface, listenUnixSocket } from "../../src/index.ts";
import { plant } from "./plant.ts";

const [socket = "", level = ""] = process.argv.slice(2);
const live = implementSurface(plant, {
  level: cellSource(Number(level)),
  fill: async function* (_input, { signal }) {
    yield { progress: 3, total: 8, message: "Opening the valve" };
    await once(signal, "abort");
    process.stdout.write("aborted\n");
    return "never";
  },
  empty: () => "empty",
});
await listenUnixSocket(live, socket);
process.stdout.write("ready\n");
