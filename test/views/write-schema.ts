import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../architecture/source.ts";
import { rulesDocument } from "./rules-document.ts";

// `npm run write:view-schema`: writes the JSON Schema of view rules that editors use.
writeFileSync(join(root, "docs/schemas/view-rules.schema.json"), JSON.stringify(rulesDocument));
