import type {
  EntryLooks,
  ListedItem,
  PromptEntry,
  ResourceEntry,
  TemplateEntry,
  ToolEntry,
  ToolHints,
} from "../catalog/entry.ts";
import { jsonMimeType } from "../catalog/resource-content.ts";
import { writeJson } from "./write-json.ts";

interface Described extends EntryLooks {
  readonly title: string | undefined;
  readonly description: string | undefined;
}

/** What people and hosts are told of an entry of any kind. */
function words({ title, description, icons, meta }: Described): object {
  return {
    ...(title === undefined ? {} : { title }),
    ...(description === undefined ? {} : { description }),
    ...(icons === undefined ? {} : { icons }),
    ...(meta === undefined ? {} : { _meta: meta }),
  };
}

/**
 * The hints of a tool without those that are `false` by the protocol's own default. Those that are `true` by default stay: a host
 * that reads what is left out as `false` would take the tool for harmless.
 */
function toHints({ readOnlyHint, idempotentHint, ...others }: ToolHints): object {
  return {
    ...(readOnlyHint ? { readOnlyHint } : {}),
    ...others,
    ...(idempotentHint ? { idempotentHint } : {}),
  };
}

/** The JSON text of a tool as `tools/list` shows it. */
export function describeTool(tool: ToolEntry): string {
  return writeJson({
    name: tool.name,
    ...words(tool),
    inputSchema: tool.input.json,
    ...(tool.output.json === undefined ? {} : { outputSchema: tool.output.json }),
    annotations: { ...(tool.title === undefined ? {} : { title: tool.title }), ...toHints(tool.hints) },
  });
}

/** The JSON text of a resource as `resources/list` shows it. */
export function describeResource(resource: ResourceEntry): string {
  return writeJson({
    uri: resource.uri,
    name: resource.id,
    ...words(resource),
    mimeType: resource.mimeType ?? jsonMimeType,
  });
}

/** The JSON text of an item as `resources/list` shows it. What it is like is what the template of its family says. */
export function describeItem({ uri, name }: ListedItem): string {
  return writeJson({ uri, name, mimeType: jsonMimeType });
}

/** The JSON text of a template as `resources/templates/list` shows it. */
export function describeTemplate(template: TemplateEntry): string {
  return writeJson({
    uriTemplate: template.uriTemplate,
    name: template.id,
    ...words(template),
    mimeType: template.mimeType ?? jsonMimeType,
  });
}

/** The JSON text of a prompt as `prompts/list` shows it. */
export function describePrompt(prompt: PromptEntry): string {
  const args = prompt.arguments.map(({ name, title, description, required }) => ({
    name,
    ...words({ title, description }),
    required,
  }));
  return writeJson({ name: prompt.name, ...words(prompt), ...(args.length === 0 ? {} : { arguments: args }) });
}
