import type { Request } from 'express';
import { type Continuation, continuationFrom, readQueryParam } from '../http/index.ts';
import type { Plan } from '../membership/index.ts';
import type { User } from '../users/index.ts';
import type { CheckoutDeps } from './deps.ts';

/** Where the step PLAN stands, and where its pages are. Addresses carry the errand. */
export interface CheckoutFlow {
  kind: 'sign-up' | 'post-signup' | 'purchase';
  continuation: Continuation;
  /** The plan that the address names. */
  named: Plan | undefined;
  /** The address alone says which plan it is; elsewhere it proposes one, and the member may have chosen another. */
  fixed: boolean;
  summary: string;
  changePlan: string;
  addPayment: string;
  /** Where the browser asks for leave to save a card. */
  setup: string;
  /** Of the plan that was chosen. */
  summaryUrl(plan: Plan): string;
  /** Once the member has the plan, or it is settled that they will. */
  doneUrl(plan: Plan, user: User): string;
  /** For members who need nothing here any more. */
  skipUrl(user: User): string;
  /** For members who do not want a plan now. */
  cancelUrl(user: User): string;
  /** Of the plan on which members begin. */
  trialDays: number;
}

type CheckoutFlowDeps = Pick<CheckoutDeps, 'publicUrl' | 'searchAppUrl' | 'nextRedirect'> & {
  membership: Pick<CheckoutDeps['membership'], 'catalogue'>;
};

/** The place of a request; undefined: its address names what there is not. */
export type ResolveCheckoutFlow = (deps: CheckoutFlowDeps, req: Request) => CheckoutFlow | undefined;

/** 'Just a moment...': the plan by its code, and where it is known by its handle, by both. */
export const completionUrl = (plan: Plan, byHandle: boolean, search = ''): string =>
  `/signup/completed/${byHandle ? `plan/${plan.planKey}/` : ''}${plan.code}${search}`;

/** A client app or a page of this site waits for the member. */
const hasContinuation = ({ authorization, returnTo }: Continuation) =>
  authorization !== undefined || returnTo !== undefined;

/** Steps below one address, whatever plan it is. */
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
    setup: at(`${names.addPayment}/setup`),
    summaryUrl: () => summary,
  };
}

/** `/signup`, or `/signup/plan/:planHash`: step 2 of a sign-up. */
export const signUpFlow: ResolveCheckoutFlow = (
  { publicUrl, searchAppUrl, nextRedirect, membership: { catalogue } },
  req,
) => {
  const { planHash } = req.params;
  const planKey = typeof planHash === 'string' ? planHash : undefined;
  const named = planKey === undefined ? undefined : catalogue.byKey(planKey);
  if (planKey !== undefined && !named) return undefined;
  const continuation = continuationFrom(req, publicUrl);
  const base = planKey === undefined ? '/signup' : `/signup/plan/${planKey}`;
  return {
    kind: 'sign-up',
    continuation,
    named,
    fixed: false,
    ...stepPaths(base, continuation, { summary: 'verifiedCode', changePlan: 'changePlan', addPayment: 'addPayment' }),
    doneUrl: (plan) => completionUrl(plan, named !== undefined, continuation.search),
    skipUrl: (user) => nextRedirect(user, continuation).address,
    cancelUrl: (user) => (hasContinuation(continuation) ? nextRedirect(user, continuation).address : searchAppUrl),
    trialDays: catalogue.trial.days,
  };
};

/** `/post-signup`: for members whose address was confirmed, or who came by a provider, without a plan. It ends at the settings. */
export const postSignUpFlow: ResolveCheckoutFlow = ({ publicUrl, nextRedirect, membership: { catalogue } }, req) => {
  const continuation = continuationFrom(req, publicUrl);
  const end = (user: User) => (hasContinuation(continuation) ? nextRedirect(user, continuation).address : '/settings');
  return {
    kind: 'post-signup',
    continuation,
    named: catalogue.byKey(readQueryParam(req, 'planHash') ?? ''),
    fixed: false,
    ...stepPaths('/post-signup', continuation, { summary: 'plan', changePlan: 'changePlan', addPayment: 'addPayment' }),
    doneUrl: (_plan, user) => end(user),
    skipUrl: end,
    cancelUrl: end,
    trialDays: catalogue.trial.postSignUpDays,
  };
};

/** `/plan-purchase` and `/plan-purchase/:planId`. */
export const purchaseFlow: ResolveCheckoutFlow = (
  { publicUrl, searchAppUrl, nextRedirect, membership: { catalogue } },
  req,
) => {
  const { planId } = req.params;
  const named = typeof planId === 'string' ? catalogue.byId(planId) : undefined;
  if (planId !== undefined && (!named || named.kind === 'partner')) return undefined;
  const continuation = continuationFrom(req, publicUrl);
  const { search } = continuation;
  const base = named ? `/plan-purchase/${named.id}` : '/plan-purchase';
  const unavailable = (user: User) =>
    hasContinuation(continuation) ? nextRedirect(user, continuation).address : searchAppUrl;
  return {
    kind: 'purchase',
    continuation,
    named,
    fixed: true,
    summary: base + search,
    changePlan: `/plan-purchase${search}`,
    addPayment: `${base}/addPayment${search}`,
    setup: `${base}/addPayment/setup${search}`,
    summaryUrl: (plan) => `/plan-purchase/${plan.id}${search}`,
    doneUrl: (plan) => completionUrl(plan, false, search),
    skipUrl: (user) => nextRedirect(user, continuation).address,
    cancelUrl: unavailable,
    trialDays: catalogue.trial.days,
  };
};
