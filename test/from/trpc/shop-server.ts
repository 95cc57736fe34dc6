import { stdio } from "../../../src/index.ts";
import { createShopApp } from "./shop-app.ts";

await stdio().serve(createShopApp(process.argv[2]));
