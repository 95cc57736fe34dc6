import { agent } from "surface-mcp/from/agent";
import { z } from "zod";

import { openWorkspace } from "./workspace.ts";

/** What a run comes to. */
const Outcome = z.object({ written: z.boolean(), path: z.string().optional() });

/** What a person is asked before anything is written. */
const Approval = z.object({ title: z.string().min(1).max(80).describe("The heading of the notes") });

/**
 * An agent that writes release notes: it reads what has changed, has its client's model write a draft, and asks a person before
 * it writes. Up to that it only reads, so that it may be run again with what was answered.
 */
export function createReleaseNotes(directory: string) {
  return agent({
    name: "write_release_notes",
    description:
      "Write the notes of a release from the changes that lie ready; a person is asked before they are written",
    input: z.object({ version: z.string().regex(/^\d+\.\d+\.\d+$/) }),
    output: Outcome,
    timeoutMs: 300_000,
    // Of its own for each run.
    context: () => openWorkspace(directory),
    async *run({ version }, { context: workspace, ask }) {
      yield { kind: "tool_call_started", message: "reading the changes" };
      const changes = await workspace.readChanges();
      yield { kind: "tool_call_completed", message: `${changes.length} changes` };

      yield { kind: "llm_call_started" };
      const { text, model } = await ask.sample("draft", {
        systemPrompt: "You write release notes: one line a change, plain words.",
        messages: [{ role: "user", content: changes.join("\n") }],
        maxTokens: 400,
      });
      yield { kind: "llm_call_completed", model };

      const asked = await ask.elicit("approve", Approval, `Write these notes of ${version}?\n\n${text}`);
      if (asked.action !== "accept") return { written: false };
      const path = await workspace.writeNotes(version, `# ${asked.content.title}\n\n${text}\n`);
      return { written: true, path };
    },
  });
}
