import type { JSX } from "preact";
import type { PageState, SecondTotals } from "../../src/inspector/messages.ts";
import { ifKnown, toCount, toDuration } from "../text/format.ts";
import { Bar, Dot, Short } from "../ui/text.tsx";
import { chartHeight, chartSeconds, toAreaPath, toLinePath, toNiceMaximum, toSlots } from "./paths.ts";

type Slots = readonly (number | undefined)[];

interface Series {
  readonly name: string;
  readonly tone: string;
  readonly slots: Slots;
  readonly isLine?: boolean;
}

interface ChartProps {
  readonly title: string;
  readonly series: readonly Series[];
  readonly toLabel: (value: number) => string;
}

function Chart({ title, series, toLabel }: ChartProps): JSX.Element {
  const highest = Math.max(0, ...series.flatMap(({ slots }) => slots.map((value) => value ?? 0)));
  const maximum = toNiceMaximum(highest);
  return (
    <figure class="chart">
      <figcaption>
        <h2>{title}</h2>
        {series.map(({ name, tone, slots }) => (
          <span class="legend">
            <Dot tone={tone} />
            {name}
            <span class="number">
              {ifKnown(
                slots.findLast((value) => value !== undefined),
                toLabel,
              )}
            </span>
          </span>
        ))}
      </figcaption>
      <div class="plot">
        <span class="axis y-top">{toLabel(maximum)}</span>
        <span class="axis y-bottom">0</span>
        <svg
          viewBox={`0 0 ${chartSeconds} ${chartHeight}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={`${title}, last two minutes, highest ${toLabel(highest)}`}
        >
          {[0, 0.5, 1].map((part) => (
            <path class="guide" d={`M0 ${part * chartHeight}H${chartSeconds}`} />
          ))}
          {series.map(({ tone, slots, isLine }) => (
            <path
              class={`${isLine === true ? "curve" : "area"} ${tone}`}
              d={isLine === true ? toLinePath(slots, maximum) : toAreaPath(slots, maximum)}
            />
          ))}
        </svg>
        <span class="axis x-start">−2 min</span>
        <span class="axis x-end">now</span>
      </div>
    </figure>
  );
}

interface BarsProps {
  readonly title: string;
  readonly bars: readonly (readonly [name: string, count: number])[];
  readonly tone: string;
  readonly empty: string;
}

/** The most bars that fit beside the charts. */
const shownBars = 5;

function Bars({ title, bars, tone, empty }: BarsProps): JSX.Element {
  const sorted = bars.filter(([, count]) => count > 0).toSorted((a, b) => b[1] - a[1]);
  const highest = sorted[0]?.[1] ?? 1;
  return (
    <figure class="chart">
      <figcaption>
        <h2>{title}</h2>
        {sorted.length > shownBars && <span class="muted">and {toCount(sorted.length - shownBars)} more</span>}
      </figcaption>
      {sorted.length === 0 ? (
        <p class="muted">{empty}</p>
      ) : (
        <ul class="bars">
          {sorted.slice(0, shownBars).map(([name, count]) => (
            <li>
              <Short code value={name} />
              <Bar part={count / highest} tone={tone} />
              <span class="number">{toCount(count)}</span>
            </li>
          ))}
        </ul>
      )}
    </figure>
  );
}

function slotsOf(state: PageState, now: number): (read: (one: SecondTotals) => number | undefined) => Slots {
  // The second that runs is not complete, and would always look like a fall.
  return (read) => toSlots(state.seconds, now - 1000, read);
}

/** Shows calls a second, latencies, failures by tool and refusals by stage. */
export function Charts({ state, now }: { readonly state: PageState; readonly now: number }): JSX.Element {
  const slots = slotsOf(state, now);
  return (
    <section class="charts" aria-label="Charts" tabIndex={0}>
      <Chart
        title="Calls a second"
        toLabel={toCount}
        series={[
          { name: "calls", tone: "accent", slots: slots((one) => one.calls) },
          { name: "failed", tone: "bad", slots: slots((one) => one.failed) },
          { name: "refused", tone: "warn", slots: slots((one) => one.refused) },
        ]}
      />
      <Chart
        title="Latency"
        toLabel={toDuration}
        series={[
          { name: "p99", tone: "warn", slots: slots((one) => one.p99), isLine: true },
          { name: "p50", tone: "accent", slots: slots((one) => one.p50), isLine: true },
        ]}
      />
      <Bars
        title="Failures by tool"
        tone="bad"
        empty="No call has failed."
        bars={state.tools.rows.map((one) => [one.tool, one.failed])}
      />
      <Bars
        title="Refusals at the door"
        tone="warn"
        empty="No request was refused for its headers, token, body or session."
        bars={Object.entries(state.refusals)}
      />
    </section>
  );
}
