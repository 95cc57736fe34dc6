/** Variables that speak about the process that started the engine, and would mislead the one that it starts. */
const FOREIGN = /^(npm_|VITEST|INIT_CWD$|NODE_V8_COVERAGE$|NODE_CHANNEL_)/i;

/**
 * The environment of a node's command: what the engine inherited without the traces of a package manager or a test
 * runner around it, colours off, and the node's own variables on top.
 */
export function childEnv(
  inherited: NodeJS.ProcessEnv,
  own: Readonly<Record<string, string>>,
): Record<string, string | undefined> {
  const kept = Object.entries(inherited).filter(([name]) => !FOREIGN.test(name));
  return { ...Object.fromEntries(kept), NO_COLOR: "1", FORCE_COLOR: "0", ...own };
}
