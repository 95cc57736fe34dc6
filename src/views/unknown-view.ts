/** Why a view is denied that nobody has defined. */
export const unknownView = "unknown MCP surface";
