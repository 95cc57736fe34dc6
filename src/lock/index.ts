export { locked } from "./locked.ts";
