import { join } from "node:path";
import type { JsonObject } from "../../schema/json.ts";
import type { CliEnvironment } from "../terminal.ts";
import type { ServerTarget } from "./server-target.ts";

/** The scope of a server: one user in all folders, or all users of one folder. */
export type ConfigScope = "user" | "project";

/** A client, with the files and format of its configuration. */
export interface ClientConfig {
  readonly name: string;
  readonly format: "json" | "toml";
  /** Key of the object that has the servers by name. */
  readonly container: string;
  /** Paths of its files, by scope. */
  readonly files: Readonly<Partial<Record<ConfigScope, (setting: CliEnvironment) => string>>>;
  /** The variable references that it replaces in URLs and commands. @default none */
  readonly expands?: { readonly pattern: RegExp; readonly example: string };
  /** Returns the entry of a server, or the reason why the client cannot have such a server. */
  toEntry(target: ServerTarget): JsonObject | string;
}

/** Returns the folder of application data, as Electron defines `appData`. */
function appData({ home, platform, env }: CliEnvironment): string {
  if (platform === "darwin") return join(home, "Library", "Application Support");
  if (platform === "win32") return env["APPDATA"] ?? join(home, "AppData", "Roaming");
  return env["XDG_CONFIG_HOME"] ?? join(home, ".config");
}

const bearer = (reference: string): JsonObject => ({ headers: { Authorization: `Bearer ${reference}` } });

/** Returns the usual entry of a server. Clients differ in the syntax of variables and in the field `type`. */
function toCommonEntry(target: ServerTarget, toReference: (name: string) => string, saysType: boolean): JsonObject {
  if (target.kind === "stdio") {
    return { ...(saysType ? { type: "stdio" } : {}), command: target.command, args: [...target.args] };
  }
  const { url, tokenEnv } = target;
  return {
    ...(saysType ? { type: "http" } : {}),
    url,
    ...(tokenEnv === undefined ? {} : bearer(toReference(tokenEnv))),
  };
}

/** Claude Code replaces a reference by the value, or by the default after `:-`. */
const shellLike = { pattern: /^\$\{[A-Za-z_]\w*(?::-[^}]*)?\}$/, example: "${NAME}" };
/** Cursor and VS Code name the source of the value, or a path of the editor. */
const editorLike = {
  pattern:
    /^\$\{(?:(?:env|input|workspaceFolder):[^}]+|userHome|workspaceFolder|workspaceFolderBasename|pathSeparator|\/)\}$/,
  example: "${env:NAME}",
};

const bare = (name: string): string => `\${${name}}`;
const prefixed = (name: string): string => `\${env:${name}}`;

/**
 * The clients. Sources of their files and formats:
 * https://code.claude.com/docs/en/mcp, https://cursor.com/docs/mcp,
 * https://code.visualstudio.com/docs/agents/reference/mcp-configuration, https://developers.openai.com/codex/mcp,
 * https://modelcontextprotocol.io/quickstart/user (Claude Desktop).
 */
export const clients: readonly ClientConfig[] = [
  {
    name: "claude-desktop",
    format: "json",
    container: "mcpServers",
    files: { user: (setting) => join(appData(setting), "Claude", "claude_desktop_config.json") },
    toEntry: (target) =>
      target.kind === "stdio"
        ? toCommonEntry(target, bare, false)
        : "its file takes commands alone; add the URL as a connector in its settings, or pass a command",
  },
  {
    name: "claude-code",
    format: "json",
    container: "mcpServers",
    files: {
      user: ({ home, env }) => join(env["CLAUDE_CONFIG_DIR"] ?? home, ".claude.json"),
      project: ({ cwd }) => join(cwd, ".mcp.json"),
    },
    expands: shellLike,
    toEntry: (target) => toCommonEntry(target, bare, true),
  },
  {
    name: "cursor",
    format: "json",
    container: "mcpServers",
    files: {
      user: ({ home }) => join(home, ".cursor", "mcp.json"),
      project: ({ cwd }) => join(cwd, ".cursor", "mcp.json"),
    },
    expands: editorLike,
    toEntry: (target) => toCommonEntry(target, prefixed, false),
  },
  {
    name: "vscode",
    format: "json",
    container: "servers",
    files: {
      user: (setting) => join(appData(setting), "Code", "User", "mcp.json"),
      project: ({ cwd }) => join(cwd, ".vscode", "mcp.json"),
    },
    expands: editorLike,
    toEntry: (target) => toCommonEntry(target, prefixed, true),
  },
  {
    name: "codex",
    format: "toml",
    container: "mcp_servers",
    files: {
      user: ({ home, env }) => join(env["CODEX_HOME"] ?? join(home, ".codex"), "config.toml"),
      project: ({ cwd }) => join(cwd, ".codex", "config.toml"),
    },
    toEntry: (target) => {
      if (target.kind === "stdio") return toCommonEntry(target, bare, false);
      return {
        url: target.url,
        ...(target.tokenEnv === undefined ? {} : { bearer_token_env_var: target.tokenEnv }),
      };
    },
  },
];
