import { CompletedPage, type Receipt } from '../../../views/billing/completed-page.tsx';
import { formatDate } from '../../../views/format.ts';
import { type RequestContext, UnknownAddressError } from '../../http/index.ts';
import type { PlanKey } from '../../shared/index.ts';
import { findOpenStep, type User } from '../../users/index.ts';
import { type Catalogue, type Plan, withSeats } from '../catalogue/catalogue.ts';
import type { Membership } from '../subscription/membership.ts';
import { readPayingNotice } from './checkout-context.ts';
import type { CheckoutDeps } from './checkout-deps.ts';
import { readPlanKey } from './checkout-flow.ts';
import { planLine, type TextContext } from './plan-view.ts';
import { toReceipt } from './receipt-view.ts';

const handlePattern = /^[A-Za-z0-9._~-]{1,100}$/;

/** The specification writes the handles of a partner's plans in full, and without the partner (`tier2`). */
const hasHandle = ({ kind, planKey }: Plan, handle: PlanKey): boolean =>
  planKey === handle || (kind === 'partner' && planKey.endsWith(`_${handle}`));

/** Tests for a completion page: the code of a plan, alone or after its own handle; of a former plan after any. */
function isCompletionCode(catalogue: Catalogue, code: string, planKey: PlanKey | undefined): boolean {
  if (catalogue.formerCodes.has(code)) return planKey === undefined || handlePattern.test(planKey);
  const plan = catalogue.byCode(code);
  return plan !== undefined && (planKey === undefined || hasHandle(plan, planKey));
}

/**
 * The result for the plan. Anyone can write such an address, so it never claims a plan that the user neither has nor
 * will have.
 */
function completionText(
  { lang, t }: TextContext,
  plan: Plan,
  { user, membership }: { user: User; membership: Membership | undefined },
): string | undefined {
  // A gift has not the interval of the plan's price.
  const isGift = membership?.giftPlanId === plan.id && user.planId === plan.id;
  if (isGift) return t('checkout.completed.plan', { plan: plan.name });
  const line = planLine(
    t,
    withSeats(plan, (plan.id === membership?.nextPlanId ? membership.nextSeats : user.seats) ?? 1),
  );
  const hasLater = plan.seats !== null && membership?.nextPlanId === plan.id;
  if (user.planId === plan.id && !hasLater) return t('checkout.completed.plan', { plan: line });
  const ends = plan.kind !== 'paid' && membership?.cancelAtPeriodEnd && membership.basePlanId === plan.id;
  const follows = membership?.nextPlanId === plan.id || ends;
  if (!follows || membership?.periodEnd == null) return undefined;
  if (membership.noted === 'change') return t('membership.noted.change');
  return t('checkout.completed.later', { plan: line, date: formatDate(lang, membership.periodEnd) });
}

/** The receipt of a plan that a member has or will have; users with another step before them see it after that. */
async function findReceipt(
  r: RequestContext,
  deps: CheckoutDeps,
  { user, plan, membership }: { user: User; plan: Plan; membership: Membership | undefined },
): Promise<Receipt | undefined> {
  if (!membership || findOpenStep(user, deps.terms) !== undefined) return undefined;
  const order = await deps.findLatestOrder(user.id);
  return toReceipt(r, plan, { catalogue: deps.membership.catalogue, membership, order, nowMs: deps.now() });
}

/**
 * GET /signup/completed/…: 'Just a moment...', a receipt, and a redirect after 2 seconds; a signed-out visitor gets a link to the
 * sign-in.
 */
export async function showCompleted(r: RequestContext, deps: CheckoutDeps) {
  const { catalogue } = deps.membership;
  const code = r.param('code');
  if (!isCompletionCode(catalogue, code, readPlanKey(r))) throw new UnknownAddressError();
  const { continuation } = r;
  const { search } = continuation;
  r.takeNotice(readPayingNotice);
  const found = await deps.sessions.getCurrentUser(r.req);
  if (!found) {
    return r.render(CompletedPage, { signInHref: `/${search}` }, { title: 'checkout.completed.signIn', search });
  }
  const { user } = found;
  const plan = catalogue.byCode(code);
  const membership = plan && (await deps.membership.getMembership(user.id));
  const resultText = plan && completionText(r, plan, { user, membership });
  const receipt =
    plan === undefined || resultText === undefined ? undefined : await findReceipt(r, deps, { user, plan, membership });
  r.render(
    CompletedPage,
    { continueUrl: deps.nextRedirect(user, continuation).address, resultText, receipt },
    { title: 'checkout.completed.heading', search },
  );
}
