/** The name of the tool that `.views(…, { replay: true })` adds. */
export const replayToolName = "replay";

/** The name of the tool that `.views(…, { replay: true })` adds, as a type. */
export type ReplayToolName = typeof replayToolName;

/** How messages name that tool. */
export const replayOrigin: string = `tool "${replayToolName}" of views()`;
