import type { ReactNode } from 'react';

export interface SummaryLine {
  label: string;
  /** Already formatted. */
  amount: string;
  /** A deduction. */
  saves?: boolean;
  /** The promotion code that deducts it. */
  code?: string;
  /** A small form beside the label. */
  act?: ReactNode;
}

/**
 * The total of an order: lines, the sum, and a note on later charges.
 * @param props.people the lines describe people: each value is below its label
 */
export function SummaryList(props: {
  lines: readonly SummaryLine[];
  total?: SummaryLine;
  /** Parts of the total, below it. */
  included?: readonly SummaryLine[];
  /** A line for each. */
  note?: readonly string[];
  /** An amount that is no part of the total, below it. */
  later?: SummaryLine | undefined;
  /** A list below the notes. */
  lost?: { label: string; items: readonly string[] } | undefined;
  people?: boolean;
}) {
  const { lines, total, included = [], later, note = [], lost, people } = props;
  return (
    <div className="summary">
      <dl className={people ? 'people' : undefined}>
        {lines.map(({ label, amount, saves, act }) => (
          <div key={label} className={saves ? 'saves' : undefined}>
            <dt>
              {act === undefined ? (
                label
              ) : (
                <>
                  {label} {act}
                </>
              )}
            </dt>
            <dd>{amount}</dd>
          </div>
        ))}
        {total !== undefined && (
          <div className="total">
            <dt>{total.label}</dt>
            <dd>{total.amount}</dd>
          </div>
        )}
        {included.map(({ label, amount }) => (
          <div key={label} className="muted">
            <dt>{label}</dt>
            <dd>{amount}</dd>
          </div>
        ))}
        {later !== undefined && (
          <div>
            <dt>{later.label}</dt>
            <dd>{later.amount}</dd>
          </div>
        )}
      </dl>
      {note.map((line) => (
        <p key={line} className="muted small">
          {line}
        </p>
      ))}
      {lost && (
        <div className="muted small">
          <p>{lost.label}</p>
          <ul className="points">
            {lost.items.map((item) => (
              <li key={item}>{item}</li>
            ))}
          </ul>
        </div>
      )}
    </div>
  );
}
