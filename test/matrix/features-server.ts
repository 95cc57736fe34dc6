import { stdio } from "../../src/index.ts";
import { createFeaturesApp } from "../mcp/features-app.ts";

// Everything of the protocol besides members, for the SDK's own clients to use.
await stdio().serve(createFeaturesApp());
