import type { JSX } from "preact";

interface SearchProps {
  readonly label: string;
  readonly value: string;
  readonly set: (value: string) => void;
  /** Names that the box offers. */
  readonly offered?: readonly string[];
}

/** A box for a text that rows must have. */
export function Search({ label, value, set, offered }: SearchProps): JSX.Element {
  return (
    <>
      <input
        type="search"
        aria-label={label}
        placeholder={label}
        value={value}
        {...(offered !== undefined && { list: label })}
        onInput={(event) => set(event.currentTarget.value)}
      />
      {offered !== undefined && (
        <datalist id={label}>
          {offered.map((name) => (
            <option value={name} />
          ))}
        </datalist>
      )}
    </>
  );
}
