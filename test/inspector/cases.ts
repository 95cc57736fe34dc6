import type { InspectorTarget } from "./inspect.ts";

/** A request, and what has to come of it. */
export interface InspectorCase {
  /** The method, and what belongs to it. */
  readonly args: readonly string[];
  /** How the Inspector ends: 0 is fine, 5 a tool that failed, 1 any other error. */
  readonly code: number;
  /** Part of its result. Left out: there is none. */
  readonly result?: unknown;
}

const versions = { legacy: "2025-11-25", auto: "2026-07-28", modern: "2026-07-28" } as const;

/** What the face of the CI example has to answer, also while nothing runs behind it. */
export function exampleCases(era: InspectorTarget["era"]): readonly InspectorCase[] {
  return [
    {
      args: ["initialize"],
      code: 0,
      result: { serverInfo: { name: "ci-pipeline" }, protocolVersion: versions[era] },
    },
    { args: ["tools/list", "--strict"], code: 0, result: {} },
    { args: ["resources/list"], code: 0, result: { resources: [{ name: "nodes" }] } },
    { args: ["resources/templates/list"], code: 0, result: { resourceTemplates: [{ name: "log" }] } },
    { args: ["resources/read", "--uri", "surface://nobody/nodes"], code: 1 },
    { args: ["tools/call", "--tool-name", "nobody"], code: 5 },
  ];
}

/** What the server of the conformance suite has to answer the client of an era. */
export function suiteCases(era: InspectorTarget["era"]): readonly InspectorCase[] {
  return [
    {
      args: ["initialize"],
      code: 0,
      result: { serverInfo: { name: "conformance", version: "1.0.0" }, protocolVersion: versions[era] },
    },
    // 6 would be a schema that hosts choke on.
    { args: ["tools/list", "--strict"], code: 0, result: {} },
    {
      args: ["tools/call", "--tool-name", "test_simple_text"],
      code: 0,
      result: { structuredContent: { value: "This is a simple text response for testing." } },
    },
    {
      args: ["tools/call", "--tool-name", "test_tool_with_progress"],
      code: 0,
      result: { structuredContent: { value: "All of it is done" } },
    },
    {
      args: ["tools/call", "--tool-name", "test_mirrored_header", "--tool-arg", "region=eu"],
      code: 0,
      result: { structuredContent: { region: "eu" } },
    },
    { args: ["tools/call", "--tool-name", "test_error_handling"], code: 5, result: { isError: true } },
    { args: ["tools/call", "--tool-name", "nobody"], code: 5 },
    { args: ["resources/list"], code: 0, result: {} },
    { args: ["resources/templates/list"], code: 0, result: {} },
    {
      args: ["resources/read", "--uri", "test://static-text"],
      code: 0,
      result: { contents: [{ uri: "test://static-text", mimeType: "text/plain" }] },
    },
    {
      args: ["resources/read", "--uri", "test://template/7/data"],
      code: 0,
      result: { contents: [{ uri: "test://template/7/data", mimeType: "application/json" }] },
    },
    { args: ["resources/read", "--uri", "test://nothing/here"], code: 1 },
    { args: ["prompts/list"], code: 0, result: {} },
    {
      args: ["prompts/get", "--prompt-name", "test_prompt_with_arguments", "--prompt-args", "arg1=a", "arg2=b"],
      code: 0,
      result: { messages: [{ role: "user", content: { text: "Prompt with arguments: arg1='a', arg2='b'" } }] },
    },
  ];
}
