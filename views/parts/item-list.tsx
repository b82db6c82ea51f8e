import type { ReactNode } from 'react';
import { ButtonLink } from './button.tsx';

export interface Item {
  label: string;
  value: ReactNode;
  /** Before the words, for example an avatar. */
  before?: ReactNode;
  /** A chip beside the value. */
  chip?: ReactNode;
  /** `context` says to screen readers what is edited: "Edit" alone would be one of many. */
  action?: { href: string; label: string; context: string };
  /** Any other way to change it: a `DialogLink`, a form. */
  act?: ReactNode;
}

/** Rows of what is stored, each with the way to change it. */
export function ItemList({ items }: { items: readonly Item[] }) {
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
    </ul>
  );
}
