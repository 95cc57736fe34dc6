export { attach } from "./attach.ts";
export type { AttachOptions } from "./attach-options.ts";
export type { V1AuthInfo, V1McpServer, V1RequestInfo, V1Server } from "./v1-port.ts";
