import type { CoordinatorSetting } from "./coordinator-process.ts";
import { toFaceArguments } from "./face-arguments.ts";
import type { House } from "./house.ts";

/** The agent starts a face of its own over stdio, and nobody else is there. */
export function createStdioHouse(setting: CoordinatorSetting): House {
  return {
    face: ["--", ...toFaceArguments(setting)],
    async introduce(agent) {
      const face = await Promise.race([agent.face, agent.report.then(() => 0)]);
      return [
        `  agent        ${agent.pid}  an MCP client`,
        `  face         ${face}  the MCP server that the agent has started over stdio; it bridges to the socket`,
      ];
    },
    async onLive() {},
    async conclude() {},
    async end() {},
  };
}
