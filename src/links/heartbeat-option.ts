import { duration, type Option } from "../options/option.ts";

/** Milliseconds of silence after which a peer is asked for a sign of life. Longer ones make a timer fire at once. */
export const heartbeat: Option = duration(2 ** 31 - 1);
