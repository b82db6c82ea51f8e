import type { Continuation, RequestContext } from '../../http/index.ts';
import { type PlanKey, toPlanId, toPlanKey } from '../../shared/index.ts';
import type { User } from '../../users/index.ts';
import type { Plan } from '../catalogue/catalogue.ts';
import type { CheckoutDeps } from './checkout-deps.ts';
import { partnerDealUrl } from './partner-deal.ts';

/** A place of the step PLAN, and the addresses of its pages, with the continuation. */
export interface CheckoutFlow {
  kind: 'sign-up' | 'post-signup' | 'purchase';
  continuation: Continuation;
  /** The plan in the address, which its pages show: a plan that was chosen before has another address. */
  named: Plan | undefined;
  summary: string;
  changePlan: string;
  addPayment: string;
  billingDetails: string;
  /** The address for a setup intent. */
  setup: string;
  /** The summary of the chosen plan. */
  summaryUrl(plan: Plan): string;
  /** The page after the user has the plan, or its change is scheduled. */
  doneUrl(plan: Plan, user: User): string;
  /** For users who need nothing here any more. */
  skipUrl(user: User): string;
  /** For users who decline a plan for now. */
  cancelUrl(user: User): string;
  /** Length of the initial trial. */
  trialDays: number;
}

type CheckoutFlowDeps = Pick<CheckoutDeps, 'searchAppUrl' | 'nextRedirect'> & {
  membership: Pick<CheckoutDeps['membership'], 'catalogue'>;
};

/** The place of a request; undefined: its address names an unknown plan. */
export type ResolveCheckoutFlow = (r: RequestContext, deps: CheckoutFlowDeps) => CheckoutFlow | undefined;

/** 'Just a moment...': by the code of the plan, or by handle and code if the handle is known. */
export const completionUrl = (plan: Plan, byHandle: boolean, search = ''): string =>
  `/signup/completed/${byHandle ? `plan/${plan.planKey}/` : ''}${plan.code}${search}`;

/** The page that redeems gift codes. */
export const giftPath = '/gift';

/** The page of a gift to which a visitor was going before the sign-up; undefined: they were going elsewhere. */
export const findGiftReturn = ({ authorization, returnTo }: Continuation): string | undefined =>
  authorization === undefined && returnTo !== undefined && new URL(returnTo).pathname === giftPath
    ? returnTo
    : undefined;

/** The page on which a member changes to a plan, or takes a partner's deal; undefined: there is no such plan. */
export function planPageUrl(plan: Plan | undefined, search: string): string | undefined {
  if (!plan) return undefined;
  return plan.kind === 'partner' ? partnerDealUrl(plan, search) : `/plan-purchase/${plan.id}${search}`;
}

/** A client app or a page of this site is the user's target. */
const hasContinuation = ({ authorization, returnTo }: Continuation) =>
  authorization !== undefined || returnTo !== undefined;

/** The steps below one address, for any plan. */
function stepPaths(
  base: string,
  { search }: Continuation,
  names: { summary: string; changePlan: string; addPayment: string },
) {
  const at = (step: string) => `${base}/${step}${search}`;
  const summary = at(names.summary);
  return {
    summary,
    changePlan: at(names.changePlan),
    addPayment: at(names.addPayment),
    billingDetails: at('billingDetails'),
    setup: at(`${names.addPayment}/setup`),
    summaryUrl: (_plan: Plan) => summary,
  };
}

/** The continuation with another plan in `planHash`, if it has one. */
function withPlanHash(search: string, { planKey }: Plan): string {
  const parameters = new URLSearchParams(search);
  if (!parameters.has('planHash')) return search;
  parameters.set('planHash', planKey);
  return `?${parameters}`;
}

/** `/signup`, or `/signup/plan/:planHash`: step 2 of a sign-up. */
export const signUpFlow: ResolveCheckoutFlow = (r, { searchAppUrl, nextRedirect, membership: { catalogue } }) => {
  const planKey = readPlanKey(r);
  const named = planKey === undefined ? undefined : catalogue.byKey(planKey);
  if (planKey !== undefined && !named) return undefined;
  const { continuation } = r;
  const base = planKey === undefined ? '/signup' : `/signup/plan/${planKey}`;
  return {
    kind: 'sign-up',
    continuation,
    named,
    ...stepPaths(base, continuation, { summary: 'verifiedCode', changePlan: 'changePlan', addPayment: 'addPayment' }),
    summaryUrl: (plan) =>
      `${planKey === undefined ? base : `/signup/plan/${plan.planKey}`}/verifiedCode${continuation.search}`,
    doneUrl: (plan) => completionUrl(plan, named !== undefined, continuation.search),
    skipUrl: (user) => nextRedirect(user, continuation).address,
    cancelUrl: (user) => (hasContinuation(continuation) ? nextRedirect(user, continuation).address : searchAppUrl),
    trialDays: catalogue.trial.days,
  };
};

/**
 * `/post-signup`: for users without a plan whose address was confirmed, or who signed up with a provider. It ends at
 * the settings.
 */
export const postSignUpFlow: ResolveCheckoutFlow = (r, { nextRedirect, membership: { catalogue } }) => {
  const { continuation } = r;
  const end = (user: User) => (hasContinuation(continuation) ? nextRedirect(user, continuation).address : '/settings');
  return {
    kind: 'post-signup',
    continuation,
    named: catalogue.byKey(toPlanKey(r.query('planHash') ?? '')),
    ...stepPaths('/post-signup', continuation, { summary: 'plan', changePlan: 'changePlan', addPayment: 'addPayment' }),
    summaryUrl: (plan) => `/post-signup/plan${withPlanHash(continuation.search, plan)}`,
    doneUrl: (_plan, user) => end(user),
    skipUrl: end,
    cancelUrl: end,
    trialDays: catalogue.trial.postSignUpDays,
  };
};

/** `/plan-purchase` and `/plan-purchase/:planId`. */
export const purchaseFlow: ResolveCheckoutFlow = (r, { searchAppUrl, nextRedirect, membership: { catalogue } }) => {
  const planId = r.param('planId');
  const named = planId === '' ? undefined : catalogue.byId(toPlanId(planId));
  if (planId !== '' && (!named || named.kind === 'partner')) return undefined;
  const { continuation } = r;
  const { search } = continuation;
  const base = named ? `/plan-purchase/${named.id}` : '/plan-purchase';
  const unavailable = (user: User) =>
    hasContinuation(continuation) ? nextRedirect(user, continuation).address : searchAppUrl;
  return {
    kind: 'purchase',
    continuation,
    named,
    summary: base + search,
    changePlan: `/plan-purchase${search}`,
    addPayment: `${base}/addPayment${search}`,
    billingDetails: `${base}/billingDetails${search}`,
    setup: `${base}/addPayment/setup${search}`,
    summaryUrl: (plan) => `/plan-purchase/${plan.id}${search}`,
    doneUrl: (plan) => completionUrl(plan, false, search),
    skipUrl: (user) => nextRedirect(user, continuation).address,
    cancelUrl: unavailable,
    trialDays: catalogue.trial.days,
  };
};

/** The plan's public handle in the path. */
export function readPlanKey(r: RequestContext): PlanKey | undefined {
  const planKey = r.param('planHash');
  return planKey === '' ? undefined : toPlanKey(planKey);
}
