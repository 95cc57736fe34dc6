import type { JSX } from "preact";
import type { ExposureRow, PageExposure } from "../../src/inspector/messages.ts";
import type { MemberRow } from "../data/exposure.ts";
import type { Page } from "../page.ts";
import { toCount } from "../text/format.ts";
import { toLabel } from "../text/visible.ts";
import { Drawer, Fields } from "../ui/drawer.tsx";
import { Json } from "../ui/json.tsx";
import { Problem, Text } from "../ui/text.tsx";

interface EntryProps {
  readonly entry: ExposureRow;
  readonly exposure: PageExposure;
  readonly page: Page;
}

function Entry({ entry, exposure, page }: EntryProps): JSX.Element {
  page.exposure.ensureEntry(entry);
  const loaded = page.exposure.entry;
  return (
    <>
      <Fields
        fields={[
          ["Name", entry.name],
          ["Id", entry.id],
          ["Title", entry.title],
          ["Effects", entry.effects.join(", ")],
          ["Scopes", entry.scopes.join(", ")],
          ["Confirm", entry.confirm],
          ["Tokens", `${toCount(entry.tokens)}, estimated`],
        ]}
      />
      {entry.description !== undefined && (
        <section>
          <h3>Description</h3>
          <p class="whole">
            <Text value={entry.description} lines />
          </p>
        </section>
      )}
      <section>
        <h3>Views</h3>
        <Fields
          fields={exposure.views.map((view, index) => {
            const shown = entry.shown[index];
            const text = shown === undefined ? "–" : "as" in shown ? shownTexts[shown.as] : `hidden: ${shown.hiddenBy}`;
            return [toLabel(view.name), text] as const;
          })}
        />
      </section>
      {loaded !== undefined && <Json label="As an agent gets it" value={loaded.json} />}
      <Problem text={page.exposure.error} />
    </>
  );
}

const shownTexts = { listed: "listed", operation: "by the gateway's `call`" } as const;

interface ExposureDetailsProps {
  readonly row: MemberRow;
  readonly exposure: PageExposure;
  readonly page: Page;
  readonly close: () => void;
}

/** Shows one member in full. */
export function ExposureDetails({ row, exposure, page, close }: ExposureDetailsProps): JSX.Element {
  const name = "entry" in row ? row.entry.name : row.unexposed.name;
  return (
    <Drawer title={name} close={close}>
      {"entry" in row ? (
        <Entry entry={row.entry} exposure={exposure} page={page} />
      ) : (
        <Fields
          fields={[
            ["Name", name],
            ["Kind", row.unexposed.kind],
            ["Not exposed", row.unexposed.why],
          ]}
        />
      )}
    </Drawer>
  );
}
