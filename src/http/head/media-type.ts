const utf8 = /^"?utf-?8"?$/;

/**
 * Whether a body is announced as JSON in UTF-8. Anything else is refused unread: a page may send forms and plain text to
 * whom it likes without being asked, and JSON it may not (CVE-2026-33252).
 */
export function isJsonType(contentType: string | undefined): boolean {
  const [type, ...params] = (contentType ?? "").toLowerCase().split(";");
  if (type?.trim() !== "application/json") return false;
  return params.every((param) => {
    const [name, ...value] = param.split("=");
    return name?.trim() !== "charset" || utf8.test(value.join("=").trim());
  });
}

function isRefused(param: string): boolean {
  return /^\s*q\s*=\s*0(?:\.0*)?\s*$/.test(param);
}

/** Whether a client takes answers of a media type. One that does not say takes everything. */
export function acceptsType(accept: string | undefined, type: string): boolean {
  if (accept === undefined) return true;
  const family = `${type.slice(0, type.indexOf("/"))}/*`;
  return accept
    .toLowerCase()
    .split(",")
    .some((range) => {
      const [name = "", ...params] = range.split(";");
      return [type, family, "*/*"].includes(name.trim()) && !params.some((param) => isRefused(param));
    });
}
