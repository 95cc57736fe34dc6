import { mcp } from "../../src/index.ts";
import { chaos } from "./surface.ts";
import { toLink } from "./ways.ts";

// The process that must outlive every backend. Arguments: where the backend listens, and the way to it.

const [, , address = "", way = ""] = process.argv;

void mcp(chaos, { version: "1.0.0" }).bridge(toLink(way, address)).pull().serve();
