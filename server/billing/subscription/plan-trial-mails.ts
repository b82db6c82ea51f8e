import type { Catalogue } from '../catalogue/catalogue.ts';
import type { ChargeMail } from './charge-mail.ts';
import { triedNoticeKey } from './due-store.ts';
import type { Membership } from './membership.ts';
import { findTriedPlan } from './membership-state.ts';
import { isTrying } from './plan-trial-rules.ts';

/** The mail about the first charge of a plan that is tried; undefined: nothing is charged. */
export function toTrialMail(
  template: 'plan-trial-began' | 'plan-trial-ends',
  membership: Membership,
  catalogue: Pick<Catalogue, 'byId'>,
): ChargeMail | undefined {
  const { triedUntil, nextCharge, cancelAtPeriodEnd } = membership;
  const plan = findTriedPlan(catalogue, membership);
  if (!isTrying(membership) || cancelAtPeriodEnd || !plan?.type || !nextCharge || triedUntil === null) return undefined;
  const { amountCents, currency, at } = nextCharge;
  const everyDays = plan.period?.interval === 'day' ? { everyDays: plan.period.count } : {};
  const about = { planName: plan.name, planType: plan.type, ...everyDays };
  const values = { ...about, amountCents, currency, chargedAt: at ?? triedUntil };
  const once = template === 'plan-trial-ends' ? triedNoticeKey(triedUntil) : `${template}:${triedUntil}`;
  return { template, once, values, charge: nextCharge };
}

/** The mails about the beginning of a trial, and its cancellation. */
export function listTrialMails(
  { before, after }: { before: Membership; after: Membership },
  catalogue: Pick<Catalogue, 'byId'>,
): ChargeMail[] {
  const began = toTrialMail('plan-trial-began', after, catalogue);
  if (began) return [began];
  const plan = findTriedPlan(catalogue, after);
  const isCancelled = after.cancelAtPeriodEnd && !before.cancelAtPeriodEnd;
  if (!plan || !isCancelled || after.periodEnd === null) return [];
  return [{ template: 'plan-cancelled', values: { planName: plan.name, endsAt: after.periodEnd } }];
}
