/** What is wrong with an answer, as far as it was heard; nothing, where all of it is HTTP, and JSON-RPC in it. */
export function faultsOf(heard: string): readonly string[] {
  let rest = heard;
  const faults: string[] = [];
  while (rest !== "") {
    const head = /^HTTP\/1\.1 (\d{3})[^\r\n]*\r\n((?:[^\r\n]+\r\n)*)\r\n/.exec(rest);
    if (head === null) return [...faults, `no HTTP: ${JSON.stringify(rest.slice(0, 200))}`];
    const [whole, status = "", headers = ""] = head;
    const { body, size } = takeBody(rest.slice(whole.length), headers);
    faults.push(...judge(Number(status), headers, body));
    rest = rest.slice(whole.length + size);
  }
  return faults;
}

interface Taken {
  /** `undefined` where the connection was closed before its end. */
  readonly body: string | undefined;
  readonly size: number;
}

function takeBody(rest: string, headers: string): Taken {
  if (/^transfer-encoding: chunked/im.test(headers)) return takeChunks(rest);
  const [, said = "0"] = /^content-length: (\d+)/im.exec(headers) ?? [];
  const size = Number(said);
  return { body: rest.length < size ? undefined : rest.slice(0, size), size };
}

function takeChunks(rest: string): Taken {
  let at = 0;
  let body = "";
  for (;;) {
    const [line, said = ""] = /^([0-9a-f]+)\r\n/i.exec(rest.slice(at)) ?? [];
    if (line === undefined) return { body: undefined, size: rest.length };
    const size = Number.parseInt(said, 16);
    body += rest.slice(at + line.length, at + line.length + size);
    at += line.length + size + 2;
    if (size === 0) return { body, size: at };
  }
}

function judge(status: number, headers: string, body: string | undefined): readonly string[] {
  // 501: a transfer coding that nobody serves (RFC 9112, 6.1).
  if (status >= 500 && status !== 501) return [`status ${status}: ${body}`];
  if (body === undefined || body === "") return [];
  const isStream = /^content-type: text\/event-stream/im.test(headers);
  if (!isStream && !/^content-type: application\/json/im.test(headers)) return [`neither of two types: ${headers}`];
  const messages = isStream ? [...body.matchAll(/^data: (.+)$/gm)].map(([, json = ""]) => json) : [body];
  return messages.filter((json) => !isRpc(json)).map((json) => `no JSON-RPC: ${json}`);
}

function isRpc(json: string): boolean {
  let message: unknown;
  try {
    // Heard byte for byte.
    message = JSON.parse(Buffer.from(json, "latin1").toString());
  } catch {
    return false;
  }
  if (typeof message !== "object" || message === null || Reflect.get(message, "jsonrpc") !== "2.0") return false;
  if ("method" in message) return !("result" in message) && !("error" in message);
  if (!("id" in message) || "result" in message === "error" in message) return false;
  return "result" in message || Number.isInteger(Reflect.get(Object(Reflect.get(message, "error")), "code"));
}
