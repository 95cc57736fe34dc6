import { visibleLines } from "../schema/visible-text.ts";

/** How many warnings one app tells: rules that a machine writes may come with others each time. */
const maxTold = 1024;

/** Makes what tells the author's terminal warnings, each once. */
export function createWarner(): (warnings: readonly string[]) => void {
  const told = new Set<string>();
  return (warnings) => {
    for (const warning of warnings) {
      if (told.has(warning) || told.size >= maxTold) continue;
      told.add(warning);
      // oxlint-disable-next-line no-console -- the author's terminal is where a warning belongs
      console.error(visibleLines(`[surface-mcp] warning: ${warning}`));
    }
  };
}
