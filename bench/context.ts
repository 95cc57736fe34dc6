/**
 * `npm run bench:context`: what the tools of an app take of a model's context, listed one by one and behind a gateway, and what a whole
 * task takes by each. Prints a table as docs/context-budget.md has it; ends with code 1 where the list of a gateway is 4,000 bytes or
 * more, or depends on what is behind it.
 */
import { countTokens } from "./tools/count-tokens.mjs";
import { wanted } from "./gateway/create-operations.ts";
import { openGateway, type Asker } from "./gateway/open-gateway.ts";

const counts = [30, 300, 1_000];
const mostBytes = 4_000;

const id = `hub.${wanted.name}`;

/** What a model reads or writes. */
interface Cost {
  readonly bytes: number;
  readonly tokens: number;
}

function costOf(...texts: readonly string[]): Cost {
  return {
    bytes: texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0),
    tokens: texts.reduce((sum, text) => sum + countTokens(text), 0),
  };
}

/** A call, with what it is asked and what it answers. */
async function exchange(asker: Asker, name: string, args: object): Promise<readonly string[]> {
  return [JSON.stringify({ name, arguments: args }), await asker.call(name, args)];
}

function toCells({ bytes, tokens }: Cost): string {
  return `${bytes.toLocaleString("en-US")} | ${tokens.toLocaleString("en-US")}`;
}

const lines: string[] = [];
const lists = new Set<string>();
for (const count of counts) {
  const opened = openGateway(count);
  const { direct, gateway } = opened;
  const directList = await direct.list();
  const directTask = await exchange(direct, id.replaceAll(/\W/g, "_"), wanted.input);
  const hubList = await gateway.list();
  const hubTask = [
    ...(await exchange(gateway, "search", { q: wanted.q })),
    ...(await exchange(gateway, "schema", { tool: id })),
    ...(await exchange(gateway, "call", { calls: [{ tool: id, input: wanted.input }] })),
  ];
  lists.add(hubList);
  const operations = count.toLocaleString("en-US");
  lines.push(
    `| ${operations} | direct | ${toCells(costOf(directList))} | ${toCells(costOf(...directTask))} | ${toCells(costOf(directList, ...directTask))} |`,
    `| ${operations} | gateway | ${toCells(costOf(hubList))} | ${toCells(costOf(...hubTask))} | ${toCells(costOf(hubList, ...hubTask))} |`,
  );
  await opened.close();
}

process.stdout.write(
  `| operations | face | list, bytes | list, tokens | task, bytes | task, tokens | both, bytes | both, tokens |
| ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: |
${lines.join("\n")}
`,
);
const [list = ""] = lists;
if (lists.size !== 1 || Buffer.byteLength(list) >= mostBytes) {
  process.stderr.write(`The list of a gateway must be under ${mostBytes} bytes, and the same whatever is behind it\n`);
  process.exitCode = 1;
}
