import { http } from "../../src/http/index.ts";
import { createConformanceApp } from "./app.ts";

// Served until it is told to end; its address is the only line on standard output. Arguments: `--port N`.
const [, port] = process.argv.slice(2);

const serving = await createConformanceApp().serve(http({ port: Number(port ?? 0) }));
process.stdout.write(`${serving.url}\n`);
