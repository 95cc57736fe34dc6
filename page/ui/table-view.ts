/** Rows above and below those that are seen, so that a fast scroll finds them drawn. */
const spareRows = 8;
const steps = new Map([
  ["ArrowDown", 1],
  ["ArrowUp", -1],
  ["PageDown", 15],
  ["PageUp", -15],
  ["Home", -Infinity],
  ["End", Infinity],
]);

/** The part of the rows that is seen, and the row that Tab reaches. */
export class TableView {
  first = 0;
  end = 30;
  rowHeight = 34;
  active: string | undefined;
  #element: HTMLElement | null = null;
  /** The row that takes the focus when it is drawn. Keys may come faster than frames. */
  #pending: number | undefined;
  readonly #draw: () => void;

  constructor(draw: () => void) {
    this.#draw = draw;
  }

  /** Follows the element that scrolls. */
  readonly follow = (element: HTMLElement | null): (() => void) | undefined => {
    this.#element = element;
    if (element === null) return undefined;
    const observer = new ResizeObserver(this.measure);
    observer.observe(element);
    return () => observer.disconnect();
  };

  /** Finds the rows that are seen. Their height is that of the style sheet. */
  readonly measure = (): void => {
    const element = this.#element;
    if (element === null) return;
    const toNumber = (of: Element, name: string): number => parseFloat(getComputedStyle(of).getPropertyValue(name));
    this.rowHeight = toNumber(element, "--row") * toNumber(document.documentElement, "font-size");
    this.first = Math.max(0, Math.floor(element.scrollTop / this.rowHeight) - spareRows);
    this.end = Math.ceil((element.scrollTop + element.clientHeight) / this.rowHeight) + spareRows;
    this.#draw();
  };

  /** Focuses the button of the active row when it is drawn. */
  readonly focus = (button: HTMLElement | null): void => {
    if (this.#pending === undefined || button === null) return;
    this.#pending = undefined;
    button.focus({ preventScroll: true });
  };

  /** Moves to another row by a key. Returns whether it did. */
  move(event: KeyboardEvent, count: number, keyAt: (index: number) => string | undefined): boolean {
    const step = steps.get(event.key);
    const { target } = event;
    const element = this.#element;
    if (step === undefined || element === null || !(target instanceof HTMLElement)) return false;
    const index = Math.min(count - 1, Math.max(0, (this.#pending ?? Number(target.dataset["index"])) + step));
    const key = keyAt(index);
    if (key === undefined) return false;
    event.preventDefault();
    // The head is sticky and covers as much as one row.
    const lowest = (index + 2) * this.rowHeight - element.clientHeight;
    element.scrollTop = Math.min(index * this.rowHeight, Math.max(lowest, element.scrollTop));
    this.#pending = key === this.active ? undefined : index;
    this.active = key;
    this.measure();
    return true;
  }
}
