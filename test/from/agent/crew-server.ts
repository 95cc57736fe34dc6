import { stdio } from "../../../src/index.ts";
import { createCrew } from "./crew.ts";

await createCrew().serve(stdio());
