import { mcp, unixSocket } from "../../src/index.ts";
import { chaos } from "./surface.ts";

// The process that must outlive every backend. Argument: where the backend's socket is.

const [, , path = ""] = process.argv;

void mcp(chaos, { version: "1.0.0" }).bridge(unixSocket(path)).pull().serve();
