import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";

const algorithm = "aes-256-gcm";
const keyBytes = 32;
const ivBytes = 12;
const tagBytes = 16;

/** The prefix of a sealed text: the version of the format. */
const version = "s2.";

/** The longest sealed text, in characters. A record is bounded to less. */
const maxSealed = 128 * 1024;

/** Seals texts for clients to keep: without the secret they cannot read, change or make one. */
export class Sealer {
  readonly #key: Buffer;

  /** @param secret - of any length. @default random, so that no other process can open what this one seals */
  constructor(secret: Uint8Array = randomBytes(keyBytes)) {
    this.#key = Buffer.from(hkdfSync("sha256", secret, "", "surface-mcp requestState", keyBytes));
  }

  /**
   * Seals a text.
   *
   * @param about - opens only with the same.
   */
  seal(text: string, about: string): string {
    const iv = randomBytes(ivBytes);
    const cipher = createCipheriv(algorithm, this.#key, iv, { authTagLength: tagBytes });
    cipher.setAAD(Buffer.from(version + about));
    const sealed = [iv, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()];
    return version + Buffer.concat(sealed).toString("base64url");
  }

  /** Opens a sealed text; `undefined` for a text that this secret did not seal in exactly this form, about the same. */
  open(sealed: string, about: string): string | undefined {
    if (!sealed.startsWith(version) || sealed.length > maxSealed) return undefined;
    const written = sealed.slice(version.length);
    const bytes = Buffer.from(written, "base64url");
    // The decoder is lenient: only one spelling of the same bytes counts.
    if (bytes.length < ivBytes + tagBytes || bytes.toString("base64url") !== written) return undefined;
    const decipher = createDecipheriv(algorithm, this.#key, bytes.subarray(0, ivBytes), { authTagLength: tagBytes });
    decipher.setAAD(Buffer.from(version + about));
    decipher.setAuthTag(bytes.subarray(-tagBytes));
    try {
      return decipher.update(bytes.subarray(ivBytes, -tagBytes), undefined, "utf8") + decipher.final("utf8");
    } catch {
      return undefined;
    }
  }
}
