import { z } from "zod";
import { stdio } from "../../src/index.ts";
import { createFeaturesApp } from "../mcp/features-app.ts";

const rows = Array.from({ length: 30_000 }, (_none, index) => `row ${index}`);

// Everything of the protocol besides members, for the SDK's own clients to use.
const app = createFeaturesApp()
  .tools({
    all_rows: { mutates: false, handler: () => ({ rows }) },
    typed_rows: { mutates: false, output: z.object({ rows: z.array(z.string()) }), handler: () => ({ rows }) },
  })
  .pull();
await stdio().serve(app);
