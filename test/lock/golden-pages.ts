import type { Skill } from "../../src/mcp/extensions/skill.ts";
import { createSkillsExtension } from "../../src/mcp/extensions/skills-extension.ts";
import { procedure } from "../../src/surface/define-members.ts";
import { mcpTool } from "../../src/tags/mcp-tool.ts";
import type { ToolUiOptions } from "../../src/tags/tool-ui.ts";
import type { Golden } from "./golden-differences.ts";
import type { Sample } from "./support.ts";

const widens = "widens, compatible: ";
const breaks = "narrows, breaking: ";
const replaces = "widens, breaking: ";
const neutral = "same, compatible: ";

const page = (ui: ToolUiOptions): Sample => ({ members: { act: mcpTool(procedure({}), { ui }) } });
const none: Sample = { members: { act: mcpTool(procedure({})) } };
const html = "<p>";
const api = "https://api.example.com";
const cdn = "https://cdn.example.com";

/** A skill with one file. */
const skill = (name: string, digest = "1"): Skill => ({
  ...{ id: `skills/${name}`, name, description: "Use it", frontmatter: {}, scopes: ["s:read"] },
  files: [
    {
      uri: `skill://s/${name}/SKILL.md`,
      mimeType: "text/markdown",
      size: 1,
      digest,
      read: async () => new Uint8Array(),
    },
  ],
});
const skilled = (...skills: readonly Skill[]): Sample => ({
  ...none,
  options: { skills: { open: () => createSkillsExtension(skills) } },
});

/** Pages of tools, their users, and skills. */
export const goldenPages: readonly Golden[] = [
  ["a tool gets a page", none, page({ html }), `${widens}tools act changed ui`],
  ["a tool loses its page", page({ html }), none, `${breaks}tools act changed ui`],
  ["the text of a page changes", page({ html }), page({ html: "<b>" })],
  [
    "a page reaches an origin",
    page({ html }),
    page({ html, csp: { connectDomains: [api] } }),
    `${widens}tools act changed ui.csp.connectDomains`,
  ],
  [
    "a page reaches another origin",
    page({ html, csp: { connectDomains: [api] } }),
    page({ html, csp: { connectDomains: [cdn] } }),
    `${replaces}tools act changed ui.csp.connectDomains`,
  ],
  [
    "a page reaches an origin less",
    page({ html, csp: { resourceDomains: [api, cdn] } }),
    page({ html, csp: { resourceDomains: [cdn] } }),
    `${breaks}tools act changed ui.csp.resourceDomains`,
  ],
  [
    "a page requests the camera",
    page({ html, permissions: { geolocation: true, camera: false } }),
    page({ html, permissions: { geolocation: true, camera: true } }),
    `${widens}tools act changed ui.permissions`,
  ],
  [
    "a page gets a border",
    page({ html }),
    page({ html, prefersBorder: true }),
    `${neutral}tools act changed ui.prefersBorder`,
  ],
  [
    "a page gets an origin",
    page({ html }),
    page({ html, domain: "a.example.com" }),
    `${replaces}tools act changed ui.domain`,
  ],
  [
    "a tool is for pages alone",
    page({ html }),
    page({ html, visibility: ["app"] }),
    `${breaks}tools act changed ui.visibility`,
  ],
  [
    "a tool is for the model, too",
    page({ visibility: ["app"] }),
    page({ visibility: ["model", "app"] }),
    `${widens}tools act changed ui.visibility`,
  ],
  ["a skill comes", skilled(), skilled(skill("a")), `${widens}server s changed skills.a`],
  ["a skill goes", skilled(skill("a"), skill("b")), skilled(skill("b")), `${breaks}server s changed skills.a`],
  [
    "a file of a skill changes",
    skilled(skill("a")),
    skilled(skill("a", "2")),
    `${widens}server s changed skills.a.digest`,
  ],
];
