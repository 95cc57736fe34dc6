import type { ServerResponse } from "node:http";

/** How much is written at once: that something was read shows in as small steps, on however slow a connection. */
const pieceBytes = 64 * 1024;

/** Whether a body is written in one piece. */
export function isSmall(body: string): boolean {
  return body.length * 3 <= pieceBytes || Buffer.byteLength(body) <= pieceBytes;
}

/** Writes a large body piece by piece, and reports each time that some of it was read. Takes bytes, so that no text is kept besides. */
export function writeBody(response: ServerResponse, bytes: Buffer, moved: () => void): void {
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
