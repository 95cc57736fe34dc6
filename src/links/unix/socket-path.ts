import { Buffer } from "node:buffer";
import { SurfaceError } from "../../errors.ts";

/** Most bytes of the path of a socket: the operating system silently cuts longer ones off. */
const maxPathBytes = process.platform === "darwin" ? 103 : 107;

/** Whether a socket can be at `path`. */
export function isSocketPath(path: string): boolean {
  const bytes = Buffer.byteLength(path);
  return bytes > 0 && bytes <= maxPathBytes;
}

/**
 * Refuses a path that no socket can have.
 *
 * @throws SurfaceError `INVALID_OPTION`.
 */
export function assertSocketPath(path: string): void {
  const bytes = typeof path === "string" && !path.includes("\0") ? Buffer.byteLength(path) : 0;
  if (bytes > 0 && bytes <= maxPathBytes) return;
  throw new SurfaceError(
    "INVALID_OPTION",
    `Using the socket "${path}": a path must have 1 to ${maxPathBytes} bytes, none of them zero, and has ${bytes}`,
  );
}

/** Returns how many bytes are left for a name beside the socket. */
export function spareBytes(folder: string): number {
  return maxPathBytes - Buffer.byteLength(folder) - 1;
}
