import type { ReactNode } from 'react';
import { ButtonLink } from './button.tsx';

export interface Item {
  label: string;
  value: ReactNode;
  /** Before the text, for example an avatar. */
  before?: ReactNode;
  /** A chip beside the value. */
  chip?: ReactNode;
  /** `context` names the edited item for screen readers: "Edit" alone would be ambiguous. */
  action?: { href: string; label: string; context: string };
  /** Any other way to change it: a `DialogLink`, a form. */
  act?: ReactNode;
}

/** Rows of stored data, each with a link to change it. @param props.last a row below them, for example a link to more */
export function ItemList({ items, last }: { items: readonly Item[]; last?: ReactNode }) {
  return (
    <ul className="items">
      {items.map(({ label, value, before, chip, action, act }) => (
        <li key={label}>
          {before}
          <div className="item-words">
            <p className="item-label">{label}</p>
            <p className="item-value">
              {value} {chip}
            </p>
          </div>
          {action !== undefined && (
            <ButtonLink href={action.href} kind="quiet" size="small">
              {action.label}
              <span className="visually-hidden"> {action.context}</span>
            </ButtonLink>
          )}
          {act}
        </li>
      ))}
      {last !== undefined && <li>{last}</li>}
    </ul>
  );
}
