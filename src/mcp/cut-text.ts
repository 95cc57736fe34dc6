/** Where a text may be cut at `end`, so that no character is halved. */
function toBoundary(text: string, start: number, end: number): number {
  const code = text.charCodeAt(end);
  const isInside = end < text.length && (code & 0xfc00) === 0xdc00 && (text.charCodeAt(end - 1) & 0xfc00) === 0xd800;
  if (!isInside) return end;
  return end - 1 > start ? end - 1 : end + 1;
}

function findEnd(text: string, start: number, maxBytes: number): number {
  let length = Math.min(text.length - start, maxBytes);
  for (;;) {
    const end = toBoundary(text, start, start + length);
    const bytes = Buffer.byteLength(JSON.stringify(text.slice(start, end)));
    if (bytes <= maxBytes || length === 1) return end;
    length = Math.max(1, Math.min(length - 1, Math.floor((length * maxBytes) / bytes)));
  }
}

/** Where a part that may reach to `end` ends: behind the last line break of its last quarter, if it has one there. */
function toLineEnd(text: string, start: number, end: number): number {
  if (end === text.length) return end;
  const from = end - Math.floor((end - start) / 4);
  // Search the quarter only: `lastIndexOf` on the text would scan back to its start for each part, which is quadratic.
  const line = text.slice(from, end).lastIndexOf("\n") + 1;
  return line > 0 ? from + line : end;
}

/**
 * Cuts a text into parts of at most so many bytes, counted as the JSON strings that they travel in: what is written in
 * escapes takes several times its length. A part ends with a line where it can, and never within a character. Joined, the parts
 * are the text again.
 *
 * @param firstBytes - how large the first part may be. @default `maxBytes`
 */
export function cutText(text: string, maxBytes: number, firstBytes: number = maxBytes): readonly string[] {
  const parts: string[] = [];
  for (let start = 0; start < text.length;) {
    const most = start === 0 ? Math.min(firstBytes, maxBytes) : maxBytes;
    const end = toLineEnd(text, start, findEnd(text, start, most));
    parts.push(text.slice(start, end));
    start = end;
  }
  return parts;
}
