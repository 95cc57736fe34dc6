/** Whether a client reads streams of events, by its `Accept`. Who names nothing takes whatever comes. */
export function acceptsEvents(accept: string | undefined): boolean {
  if (accept === undefined) return true;
  return accept.split(",").some((range) => {
    const [type = "", ...params] = range.split(";").map((part) => part.trim().toLowerCase());
    const isRefused = params.some((param) => /^q=0(?:\.0*)?$/.test(param));
    return !isRefused && (type === "text/event-stream" || type === "text/*" || type === "*/*");
  });
}
