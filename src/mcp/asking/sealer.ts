import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";

const algorithm = "aes-256-gcm";
const keyBytes = 32;
const ivBytes = 12;
const tagBytes = 16;

/** How a sealed text begins: what follows is sealed in this way. */
const version = "s2.";

/** No sealed text is longer: what is sealed is bounded long before. */
const maxSealed = 128 * 1024;

/**
 * Seals texts that others keep: nobody but who has the secret can read them, change them, or make them.
 */
export class Sealer {
  readonly #secret: Uint8Array;
  #made: Buffer | undefined;

  /** @param secret - of any length. Default: one that nobody else has, nor this process when it starts again. */
  constructor(secret: Uint8Array = randomBytes(keyBytes)) {
    // A copy: whoever gave it may overwrite it.
    this.#secret = Uint8Array.from(secret);
  }

  /**
   * Seals a text.
   *
   * @param about - what it is about: it opens only with the same.
   */
  seal(text: string, about: string): string {
    const iv = randomBytes(ivBytes);
    const cipher = createCipheriv(algorithm, this.#key, iv, { authTagLength: tagBytes });
    cipher.setAAD(Buffer.from(version + about));
    const sealed = [iv, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()];
    return version + Buffer.concat(sealed).toString("base64url");
  }

  /** What was sealed; `undefined` for whatever was not sealed by this secret, exactly so, about the same. */
  open(sealed: string, about: string): string | undefined {
    if (!sealed.startsWith(version) || sealed.length > maxSealed) return undefined;
    const written = sealed.slice(version.length);
    const bytes = Buffer.from(written, "base64url");
    // Decoding forgives: of the many ways to write the same bytes only ours is one.
    if (bytes.length < ivBytes + tagBytes || bytes.toString("base64url") !== written) return undefined;
    const iv = bytes.subarray(0, ivBytes);
    const decipher = createDecipheriv(algorithm, this.#key, iv, { authTagLength: tagBytes });
    decipher.setAAD(Buffer.from(version + about));
    decipher.setAuthTag(bytes.subarray(-tagBytes));
    try {
      return decipher.update(bytes.subarray(ivBytes, -tagBytes), undefined, "utf8") + decipher.final("utf8");
    } catch {
      return undefined;
    }
  }

  /** Made with the first that is sealed or opened: most servers ask nothing. */
  get #key(): Buffer {
    this.#made ??= Buffer.from(hkdfSync("sha256", this.#secret, "", "surface-mcp requestState", keyBytes));
    return this.#made;
  }
}
