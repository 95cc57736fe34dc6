import type { Clock } from "../spine/clock.ts";
import { systemClock as clockOfOwners } from "../surface/system-clock.ts";

/** The time of this machine, as links see it: that of the owners of members. */
export const systemClock: Clock = clockOfOwners;
