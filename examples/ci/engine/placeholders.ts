import type { Pipeline, PipelineNode } from "./pipeline.ts";

/**
 * Replaces `{name}` by its value in every command, folder and variable of a pipeline, and returns a new pipeline.
 * Braces around any other word stay as they are, since programs have their own use for them.
 */
export function fillPlaceholders(pipeline: Pipeline, values: Readonly<Record<string, string>>): Pipeline {
  const fill = (text: string): string =>
    text.replace(/\{([a-z]+)\}/g, (found, name: string) =>
      Object.hasOwn(values, name) ? (values[name] ?? found) : found,
    );
  const fillNode = (node: PipelineNode): PipelineNode => {
    const [program, ...args] = node.command;
    const env = Object.fromEntries(Object.entries(node.env).map(([name, value]) => [name, fill(value)]));
    return { ...node, command: [fill(program), ...args.map(fill)], cwd: fill(node.cwd), env };
  };
  return { ...pipeline, nodes: pipeline.nodes.map(fillNode) };
}

/** Tells whether any command, folder or variable of a pipeline still names `{name}`. */
export function usesPlaceholder(pipeline: Pipeline, name: string): boolean {
  const mark = `{${name}}`;
  return pipeline.nodes.some((node) =>
    [...node.command, node.cwd, ...Object.values(node.env)].some((text) => text.includes(mark)),
  );
}
