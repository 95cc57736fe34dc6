import type { ServerResponse } from "node:http";

/** How much is written at once: that something was read shows in as small steps, on however slow a connection. */
const pieceBytes = 64 * 1024;

/** Whether a body is written in one piece. */
export function isSmall(body: string): boolean {
  return body.length * 3 <= pieceBytes || Buffer.byteLength(body) <= pieceBytes;
}

/** Receives a report each time that a client has read some of a body. */
export interface BodyReader {
  moved(): void;
}

/** Writes a large body piece by piece. Takes bytes, so that no text is kept beside them. */
export function writeBody(response: ServerResponse, bytes: Buffer, reader: BodyReader): void {
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
    reader.moved();
  };
  response.on("drain", onDrain);
  writeOn();
}
