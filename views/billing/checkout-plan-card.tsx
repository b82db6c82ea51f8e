import { ButtonLink } from '../parts/button.tsx';
import { Card } from '../parts/card.tsx';
import { TickList } from '../parts/tick-list.tsx';

/** Already formatted: `{ amount: '$900', per: 'a year', tax: 'plus VAT' }`. */
export interface PlanPrice {
  amount: string;
  per: string;
  /** Whether the amount contains the tax; undefined: there is none. */
  tax?: string;
}

export interface PlanView {
  name: string;
  summary: string;
  features: readonly string[];
  price?: PlanPrice;
}

/** The name and content of a plan. */
export function PlanCard({ plan, change }: { plan: PlanView; change?: { href: string; label: string } | undefined }) {
  const { name, summary, features, price } = plan;
  return (
    <Card
      actions={
        change && (
          <ButtonLink kind="quiet" size="small" href={change.href}>
            {change.label}
          </ButtonLink>
        )
      }
    >
      <div className="field-head">
        <h2>{name}</h2>
        {price !== undefined && (
          <p className="radio-price">
            <strong>{price.amount}</strong> <span>{price.per}</span>
            {price.tax !== undefined && <span className="price-tax"> {price.tax}</span>}
          </p>
        )}
      </div>
      {features.length === 0 && <p className="muted">{summary}</p>}
      {features.length > 0 && <TickList items={features} />}
    </Card>
  );
}
