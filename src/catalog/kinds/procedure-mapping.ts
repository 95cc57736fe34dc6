import { defaultTimeoutMs } from "../../tags/tool-options.ts";
import { EntryUse } from "../entry-use.ts";
import { originOf, type KindMapping } from "../mapping.ts";
import { toToolHints } from "../tool-hints.ts";
import { toToolInput } from "../tool-input.ts";
import { toToolOutput } from "../tool-output.ts";
import { toToolHead } from "../tool-head.ts";

/** A procedure is a tool; mutating unless its author said that it only reads. */
export const procedureMapping: KindMapping<"procedure"> = {
  asTool(exposed) {
    const { key, member, channel, options, effect } = exposed;
    const origin = originOf(exposed);
    const hints = toToolHints(effect, options);
    const input = toToolInput(member.input, origin);
    return {
      ...toToolHead(exposed, hints, input),
      input,
      output: toToolOutput(member.output, origin),
      timeoutMs: options.timeoutMs ?? defaultTimeoutMs,
      countsQuestions: options.timeoutMs !== undefined,
      run(args, call) {
        const use = new EntryUse(call, hints.readOnlyHint);
        return channel.request({ verb: "call", member: key, argument: args, options: use });
      },
    };
  },
};
