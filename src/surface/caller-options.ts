import { textOfBytes, type OptionFields } from "../options/option.ts";
import { scopeList } from "../tags/scopes.ts";

/** The view and the scopes of callers that no token describes. */
interface ViewOptions {
  readonly surface?: string;
  readonly project?: string;
  readonly scopes?: readonly string[];
}

/** The longest name of a view or a project, in bytes; over HTTP the same. */
const name = textOfBytes(256);

/** Options of the view and the scopes of callers that no token describes. */
export const viewFields: OptionFields<ViewOptions> = { surface: name, project: name, scopes: scopeList };
