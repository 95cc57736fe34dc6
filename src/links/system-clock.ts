export { systemClock } from "../surface/system-clock.ts";
