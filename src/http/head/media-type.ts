/** The headers as the protocol wants them, and as most clients send them. */
const usualType = "application/json";
const usualAccept = "application/json, text/event-stream";
const usualTypes = usualAccept.split(", ");

const utf8 = /^"?utf-?8"?$/;

/**
 * Returns whether a body is announced as JSON in UTF-8. Anything else is refused unread: a browser lets every page send forms
 * and plain text to any server, but not JSON (CVE-2026-33252).
 */
export function isJsonType(contentType: string | undefined): boolean {
  if (contentType === usualType) return true;
  const [type, ...params] = (contentType ?? "").toLowerCase().split(";");
  if (type?.trim() !== usualType) return false;
  return params.every((param) => {
    const [name, ...value] = param.split("=");
    return name?.trim() !== "charset" || utf8.test(value.join("=").trim());
  });
}

function isRefused(param: string): boolean {
  return /^\s*q\s*=\s*0(?:\.0*)?\s*$/.test(param);
}

/** Returns whether a client takes answers of a media type. Without the header it takes every type. */
export function acceptsType(accept: string | undefined, type: string): boolean {
  if (accept === undefined || (accept === usualAccept && usualTypes.includes(type))) return true;
  const family = `${type.slice(0, type.indexOf("/"))}/*`;
  return accept
    .toLowerCase()
    .split(",")
    .some((range) => {
      const [name = "", ...params] = range.split(";");
      return [type, family, "*/*"].includes(name.trim()) && !params.some((param) => isRefused(param));
    });
}
