import type { ServerResponse } from "node:http";

/** How much is written at once: that something was read shows in as small steps, on however slow a connection. */
const pieceBytes = 64 * 1024;

/** Writes the whole of an answer's body, and tells each time that some of a large one was read. */
export function writeBody(response: ServerResponse, body: Buffer | string, moved: () => void): void {
  if (body.length * 3 <= pieceBytes || Buffer.byteLength(body) <= pieceBytes) return void response.end(body);
  const bytes = Buffer.from(body);
  let at = 0;
  const writeOn = (): void => {
    while (bytes.length - at > pieceBytes) {
      const goesOn = response.write(bytes.subarray(at, (at += pieceBytes)));
      if (!goesOn) return;
    }
    response.off("drain", onDrain).end(bytes.subarray(at));
  };
  const onDrain = (): void => {
    writeOn();
    moved();
  };
  response.on("drain", onDrain);
  writeOn();
}
