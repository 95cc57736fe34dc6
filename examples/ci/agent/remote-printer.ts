import { createPalette } from "./palette.ts";
import type { Printer } from "./printer.ts";
import type { AgentMessage } from "./story.ts";

/** What is known here of the terminal that another process writes to. */
export interface RemotePaper {
  readonly colours: boolean;
  readonly room: number;
  readonly tell: (message: AgentMessage) => void;
}

/** Makes a printer whose lines another process prints. */
export function createRemotePrinter({ colours, room, tell }: RemotePaper): Printer {
  const print =
    (as: "step" | "headline" | "waiting") =>
    (text: string, lines: readonly string[] = []): void =>
      tell({ kind: "print", as, text, lines: [...lines] });
  return {
    paint: createPalette(colours),
    room,
    step: print("step"),
    headline: print("headline"),
    waiting: print("waiting"),
    details: (lines) => tell({ kind: "print", as: "details", text: "", lines: [...lines] }),
    close() {},
  };
}
