import { Fragment, type ReactNode } from 'react';
import { Chip } from './chip.tsx';
import { FieldError } from './field-frame.tsx';

export interface RadioCard {
  value: string;
  title: string;
  detail?: string;
  /** A highlighted label, for example "In use". */
  badge?: string;
  /** A price with its period, already formatted: `{ amount: '$900', per: 'a year', tax: 'plus VAT' }`. */
  price?: { amount: string; per: string; tax?: string };
  disabled?: boolean;
  /** A link below it. */
  below?: ReactNode;
}

interface RadioCardsProps {
  name: string;
  legend: string;
  cards: readonly RadioCard[];
  value?: string;
  error?: string | undefined;
}

function Card({ name, card, checked, errorId }: { name: string; card: RadioCard; checked: boolean; errorId?: string }) {
  const { value, title, detail, badge, price } = card;
  return (
    <label className="radio-card">
      <input
        className="radio"
        type="radio"
        name={name}
        value={value}
        defaultChecked={checked}
        disabled={card.disabled}
        aria-describedby={errorId}
      />
      <span className="radio-words">
        <span className="radio-title">
          {title} {badge !== undefined && <Chip>{badge}</Chip>}
        </span>
        {detail !== undefined && <span className="radio-detail">{detail}</span>}
      </span>
      {price !== undefined && (
        <span className="radio-price">
          <strong>{price.amount}</strong> <span>{price.per}</span>
          {price.tax !== undefined && <span className="price-tax"> {price.tax}</span>}
        </span>
      )}
    </label>
  );
}

/** One of several options with space for an explanation: plans, second factors. */
export function RadioCards({ name, legend, cards, value, error }: RadioCardsProps) {
  const errorId = error === undefined ? undefined : `field-${name}-error`;
  return (
    <fieldset className={error === undefined ? 'radio-cards' : 'radio-cards invalid'}>
      <legend>{legend}</legend>
      {cards.map((card) => (
        <Fragment key={card.value}>
          <Card name={name} card={card} checked={card.value === value} errorId={errorId} />
          {card.below !== undefined && <p className="small">{card.below}</p>}
        </Fragment>
      ))}
      {error !== undefined && errorId !== undefined && <FieldError id={errorId}>{error}</FieldError>}
    </fieldset>
  );
}
