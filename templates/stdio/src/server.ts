import { app } from "./app.ts";

await app.serve();
