import { join } from "node:path";
import type { JsonObject } from "../schema/json.ts";
import type { CliSetting } from "./cli-setting.ts";
import type { ServerTarget } from "./server-target.ts";

/** For whom a server is written down: for one person everywhere, or for everybody who works in one folder. */
export type ConfigScope = "user" | "project";

/** A program whose configuration we write. */
export interface ClientConfig {
  readonly name: string;
  readonly format: "json" | "toml";
  /** The key of the object that holds the servers by their names. */
  readonly container: string;
  /** Its files, by whom they are for. */
  readonly files: Readonly<Partial<Record<ConfigScope, (setting: CliSetting) => string>>>;
  /** The references to variables that it replaces in URLs and commands. Left out: it replaces none. */
  readonly expands?: { readonly pattern: RegExp; readonly example: string };
  /** How it spells a server; a sentence where it has no such servers. */
  toEntry(target: ServerTarget): JsonObject | string;
}

/** Where programs of a desktop keep what is theirs, as Electron says it. */
function appData({ home, platform, env }: CliSetting): string {
  if (platform === "darwin") return join(home, "Library", "Application Support");
  if (platform === "win32") return env["APPDATA"] ?? join(home, "AppData", "Roaming");
  return env["XDG_CONFIG_HOME"] ?? join(home, ".config");
}

const bearer = (reference: string): JsonObject => ({ headers: { Authorization: `Bearer ${reference}` } });

/** As most clients spell it: only how a variable is named, and whether a type is said, are their own. */
function spell(target: ServerTarget, toReference: (name: string) => string, saysType: boolean): JsonObject {
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

/** Claude Code takes the value, or what stands behind `:-` where there is none. */
const shellLike = { pattern: /^\$\{[A-Za-z_]\w*(?::-[^}]*)?\}$/, example: "${NAME}" };
/** Cursor and VS Code name where a value comes from, or a place of the editor. */
const editorLike = {
  pattern:
    /^\$\{(?:(?:env|input|workspaceFolder):[^}]+|userHome|workspaceFolder|workspaceFolderBasename|pathSeparator|\/)\}$/,
  example: "${env:NAME}",
};

const bare = (name: string): string => `\${${name}}`;
const prefixed = (name: string): string => `\${env:${name}}`;

/**
 * The clients, by what their own documentation says of files and spelling:
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
        ? spell(target, bare, false)
        : "its file takes commands alone: add the URL as a connector in its settings, or give a command that reaches it",
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
    toEntry: (target) => spell(target, bare, true),
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
    toEntry: (target) => spell(target, prefixed, false),
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
    toEntry: (target) => spell(target, prefixed, true),
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
      if (target.kind === "stdio") return spell(target, bare, false);
      return {
        url: target.url,
        ...(target.tokenEnv === undefined ? {} : { bearer_token_env_var: target.tokenEnv }),
      };
    },
  },
];
