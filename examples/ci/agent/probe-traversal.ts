import { AgentLog } from "../agent-schemas.ts";
import type { Waiting } from "./await-verdict.ts";

const ELSEWHERE = "../../../../etc/passwd";

/** Asks for a log that is none, as an agent that was told to might, and prints the answer. */
export async function probeTraversal({ session, toolbox, printer }: Waiting): Promise<void> {
  const uri = toolbox.logUri(ELSEWHERE);
  const said = await session.read(uri, AgentLog).then(
    () => "it was answered",
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
  printer.step(`${printer.paint("name", "read")} ${uri}: ${printer.paint("warn", "refused")}`, [
    printer.paint("dim", `  ${said}`),
  ]);
}
