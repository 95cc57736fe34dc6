import { inProcess, implementSurfaces, composeSurfaces, mcp, siblingLinks, stdio } from "../../src/index.ts";
import { notes, pipeline, startNotes, startPipeline } from "../links/support/siblings.ts";

// One server over two siblings; the signal drops the second.
const [one, other] = [startPipeline(), startNotes()];
const both = implementSurfaces({ pipeline: one.live, notes: other.live });
process.on("SIGUSR2", () => void other.live.close());

const link =
  process.argv[2] === "apart"
    ? siblingLinks({ pipeline: inProcess(one.live), notes: inProcess(both) }, { onFault: () => {} })
    : inProcess(both);
const app = mcp(composeSurfaces("ci", { pipeline, notes }))
  .bridge(link)
  .tools({
    drop: {
      description: "Drop the second sibling",
      handler: async () => {
        await other.live.close();
        return "dropped";
      },
    },
  });

await stdio().serve(app);
