import type { JSX } from "preact";
import type { PageExposure } from "../../src/inspector/messages.ts";
import { type MemberRow, toShownText } from "../data/exposure.ts";
import type { Page } from "../page.ts";
import { toCount } from "../text/format.ts";
import { toLabel } from "../text/visible.ts";
import { Drawer, Fields } from "../ui/drawer.tsx";
import { Json } from "../ui/json.tsx";
import { Problem, Text } from "../ui/text.tsx";

interface EntryProps {
  readonly row: MemberRow;
  readonly exposure: PageExposure;
  readonly page: Page;
}

/** Shows what an agent gets of an entry, and in which views. */
function Entry({ row: { id = "", kind, description, shown }, exposure, page }: EntryProps): JSX.Element {
  page.exposure.ensureEntry(id, kind);
  const { entry, error } = page.exposure;
  return (
    <>
      {description !== undefined && (
        <section>
          <h3>Description</h3>
          <p class="whole">
            <Text value={description} lines />
          </p>
        </section>
      )}
      <section>
        <h3>Views</h3>
        <Fields
          fields={exposure.views.map(({ name }, index) => [toLabel(name), shown?.[index] && toShownText(shown[index])])}
        />
      </section>
      {entry !== undefined && <Json label="As an agent gets it" value={entry.json} />}
      <Problem text={error} />
    </>
  );
}

interface ExposureDetailsProps extends EntryProps {
  readonly close: () => void;
}

/** Shows one member in full. */
export function ExposureDetails({ close, ...props }: ExposureDetailsProps): JSX.Element {
  const { name, kind, why, id, title, effects, scopes, confirm, tokens } = props.row;
  return (
    <Drawer title={name} close={close}>
      <Fields
        fields={[
          ["Name", name],
          ["Kind", kind],
          ["Not exposed", why],
          ["Id", id],
          ["Title", title],
          ["Effects", effects?.join(", ")],
          ["Scopes", scopes?.join(", ")],
          ["Confirm", confirm],
          ["Tokens", tokens === undefined ? undefined : `${toCount(tokens)}, estimated`],
        ]}
      />
      {why === undefined && <Entry {...props} />}
    </Drawer>
  );
}
