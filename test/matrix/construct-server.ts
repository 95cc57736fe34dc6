import { defineSurface, mcp, mcpTool, procedure, stdio } from "../../src/index.ts";
import { constructs } from "../schema/zod-constructs.ts";

// A tool for every construct that zod has, as input and as output: one that a client refuses would blank the list.
const members = Object.values(constructs).map(
  ({ schema }, index) => [`construct${index}`, mcpTool(procedure({ input: schema, output: schema }))] as const,
);

// Keys that are made at run time are refused by the types, since they prove nothing of what is exposed: a boot check
// of the same kind is what remains for those who cast.
const surface = defineSurface("constructs", Object.fromEntries(members) as Record<never, never>);
const app = mcp(surface).implement(Object.fromEntries(members.map(([key]) => [key, () => undefined])));

await stdio().serve(app);
