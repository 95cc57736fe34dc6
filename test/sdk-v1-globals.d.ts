// The declarations of the SDK 1.x name a type of the browser's library that Node's types do not have.
type HeadersInit = Headers | Record<string, string> | [string, string][];
