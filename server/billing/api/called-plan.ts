import { HttpError } from '../../http/index.ts';
import { type Catalogue, type Plan, withSeats } from '../catalogue/catalogue.ts';
import type { PurchaseView } from '../results.ts';
import type { Membership } from '../subscription/membership.ts';
import type { UpgradeBody } from './purchase-schemas.ts';

const typeOfInterval: Record<string, '1' | '2'> = {
  '1': '1',
  month: '1',
  monthly: '1',
  '2': '2',
  year: '2',
  yearly: '2',
  annual: '2',
};

/** The plan of a call, for one seat. @throws {HttpError} 409 if it names none, or several */
export function requirePlan({ plans }: Catalogue, { plan_name: name, interval }: UpgradeBody): Plan {
  const type = interval === undefined ? undefined : typeOfInterval[interval.toLowerCase()];
  const found = plans.filter(
    (plan) =>
      plan.kind === 'paid' &&
      [plan.id, plan.code, plan.lookupKey, plan.name].includes(name) &&
      (interval === undefined || plan.type === type),
  );
  const [plan, other] = found;
  if (plan && !other) return plan;
  const detail = other ? 'names several plans: write the interval, month or year' : 'names no plan that is sold';
  throw new HttpError('planNotSold', { detail, invalidParams: [{ name: 'body.plan_name', detail }] });
}

/**
 * The plan with the seats that the call names, or else with those that the member has chosen on the page.
 * @param open the purchase that the page has begun
 * @throws {HttpError} 409 if the plan does not have so many
 */
export function withCalledSeats(plan: Plan, { seats }: UpgradeBody, open: PurchaseView | undefined): Plan {
  if (seats === undefined) return open?.plan.id === plan.id ? open.plan : plan;
  const range = plan.seats;
  if (range !== null && seats >= range.min && seats <= range.max) return withSeats(plan, seats);
  const detail = range === null ? 'is not for a plan without seats' : `must be ${range.min} to ${range.max}`;
  throw new HttpError('differs', { detail: 'seats', invalidParams: [{ name: 'body.seats', detail }] });
}

/** Tests whether the member already has this plan, without a change in progress. */
export const isOn = (
  { id, chosenSeats }: Plan,
  { status, pricedPlanId, paidPlanId, cancelAtPeriodEnd, nextPlanId, seats }: Membership,
): boolean =>
  status === 'active' &&
  pricedPlanId === id &&
  paidPlanId === id &&
  !cancelAtPeriodEnd &&
  nextPlanId === null &&
  (chosenSeats === undefined || chosenSeats === (seats ?? 1));
