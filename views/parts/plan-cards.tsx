import { Chip } from './chip.tsx';
import { FieldError } from './field-frame.tsx';
import { TickList } from './tick-list.tsx';

/** A plan to choose, as text. */
export interface PlanChoice {
  value: string;
  title: string;
  /** Of a plan without features. */
  detail: string;
  /** '$900', 'a year' and 'plus VAT'; a free plan has the amount alone. */
  price?: { amount: string; per?: string; tax?: string };
  /** '14 days free, then $99 a month.' */
  trial?: string;
  /** '$75 a month, billed yearly' */
  perMonth?: string;
  /** 'Save 24%' */
  saving?: string;
  /** 'Your plan' */
  own?: string;
  /** 'Most chosen' */
  mark?: string;
  features: readonly string[];
}

interface PlanCardsProps {
  name: string;
  legend: string;
  plans: readonly PlanChoice[];
  value?: string;
  error?: string | undefined;
}

function PlanChoiceCard({
  name,
  plan,
  checked,
  errorId,
}: {
  name: string;
  plan: PlanChoice;
  checked: boolean;
  errorId: string | undefined;
}) {
  const { value, title, detail, price, trial, perMonth, saving, own, mark, features } = plan;
  const id = `${name}-${value}`;
  const hasTerms = trial !== undefined || perMonth !== undefined || saving !== undefined;
  const described = [errorId, hasTerms ? `${id}-terms` : undefined, `${id}-more`];
  return (
    <div className={mark === undefined ? 'plan-card' : 'plan-card marked'}>
      {mark !== undefined && <span className="plan-mark">{mark}</span>}
      <input
        className="radio"
        type="radio"
        id={id}
        name={name}
        value={value}
        defaultChecked={checked}
        aria-describedby={described.filter((one) => one !== undefined).join(' ')}
      />
      <label htmlFor={id}>
        <span className="plan-name">
          {title} {own !== undefined && <Chip>{own}</Chip>}
        </span>
        {price !== undefined && (
          <span className="plan-price">
            <strong>{price.amount}</strong> {price.per !== undefined && <span>{price.per}</span>}
            {price.tax !== undefined && <span className="price-tax"> {price.tax}</span>}
          </span>
        )}
      </label>
      {hasTerms && (
        <p className="plan-per-month" id={`${id}-terms`}>
          {trial !== undefined && <strong>{trial}</strong>} {perMonth}{' '}
          {saving !== undefined && <Chip tone="ok">{saving}</Chip>}
        </p>
      )}
      <div className="plan-more" id={`${id}-more`}>
        {features.length > 0 ? <TickList items={features} /> : <p>{detail}</p>}
      </div>
    </div>
  );
}

/** Plans to choose from: columns on wide screens; on phones the features of those not chosen are one text. */
export function PlanCards({ name, legend, plans, value, error }: PlanCardsProps) {
  const errorId = error === undefined ? undefined : `field-${name}-error`;
  return (
    <fieldset className={error === undefined ? 'plan-cards' : 'plan-cards invalid'}>
      <legend className="visually-hidden">{legend}</legend>
      {error !== undefined && errorId !== undefined && <FieldError id={errorId}>{error}</FieldError>}
      {plans.map((plan) => (
        <PlanChoiceCard key={plan.value} name={name} plan={plan} checked={plan.value === value} errorId={errorId} />
      ))}
    </fieldset>
  );
}
