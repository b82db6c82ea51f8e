import type { Request } from 'express';
import type { User } from '../account/index.ts';
import { type Errand, errandOf, query } from '../http/index.ts';
import type { Plan } from '../membership/index.ts';
import type { CheckoutDeps } from './deps.ts';

/** Where the step PLAN stands, and where its pages are. Addresses carry the errand. */
export interface Place {
  kind: 'sign-up' | 'post-signup' | 'purchase';
  errand: Errand;
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
  summaryOf(plan: Plan): string;
  /** Once the member has the plan, or it is settled that they will. */
  done(plan: Plan, user: User): string;
  /** For members who need nothing here any more. */
  passed(user: User): string;
  /** For members who do not want a plan now. */
  cancel(user: User): string;
  /** Of the plan on which members begin. */
  trialDays: number;
}

type PlaceDeps = Pick<CheckoutDeps, 'publicUrl' | 'searchAppUrl' | 'wayOn'> & {
  membership: Pick<CheckoutDeps['membership'], 'catalogue'>;
};

/** The place of a request; undefined: its address names what there is not. */
export type PlaceOf = (deps: PlaceDeps, req: Request) => Place | undefined;

/** 'Just a moment...': the plan by its code, and where it is known by its handle, by both. */
export const completedAddress = (plan: Plan, byHandle: boolean, search = ''): string =>
  `/signup/completed/${byHandle ? `plan/${plan.planKey}/` : ''}${plan.code}${search}`;

/** A client app or a page of this site waits for the member. */
const isAwaited = ({ authorization, returnTo }: Errand) => authorization !== undefined || returnTo !== undefined;

/** Steps below one address, whatever plan it is. */
function below(base: string, { search }: Errand, names: { summary: string; changePlan: string; addPayment: string }) {
  const at = (step: string) => `${base}/${step}${search}`;
  const summary = at(names.summary);
  return {
    summary,
    changePlan: at(names.changePlan),
    addPayment: at(names.addPayment),
    setup: at(`${names.addPayment}/setup`),
    summaryOf: () => summary,
  };
}

/** `/signup`, or `/signup/plan/:planHash`: step 2 of a sign-up. */
export const atSignUp: PlaceOf = ({ publicUrl, searchAppUrl, wayOn, membership: { catalogue } }, req) => {
  const { planHash } = req.params;
  const planKey = typeof planHash === 'string' ? planHash : undefined;
  const named = planKey === undefined ? undefined : catalogue.byKey(planKey);
  if (planKey !== undefined && !named) return undefined;
  const errand = errandOf(req, publicUrl);
  const base = planKey === undefined ? '/signup' : `/signup/plan/${planKey}`;
  return {
    kind: 'sign-up',
    errand,
    named,
    fixed: false,
    ...below(base, errand, { summary: 'verifiedCode', changePlan: 'changePlan', addPayment: 'addPayment' }),
    done: (plan) => completedAddress(plan, named !== undefined, errand.search),
    passed: (user) => wayOn(user, errand).address,
    cancel: (user) => (isAwaited(errand) ? wayOn(user, errand).address : searchAppUrl),
    trialDays: catalogue.trial.days,
  };
};

/** `/post-signup`: for members whose address was confirmed, or who came by a provider, without a plan. It ends at the settings. */
export const atPostSignUp: PlaceOf = ({ publicUrl, wayOn, membership: { catalogue } }, req) => {
  const errand = errandOf(req, publicUrl);
  const end = (user: User) => (isAwaited(errand) ? wayOn(user, errand).address : '/settings');
  return {
    kind: 'post-signup',
    errand,
    named: catalogue.byKey(query(req, 'planHash') ?? ''),
    fixed: false,
    ...below('/post-signup', errand, { summary: 'plan', changePlan: 'changePlan', addPayment: 'addPayment' }),
    done: (_plan, user) => end(user),
    passed: end,
    cancel: end,
    trialDays: catalogue.trial.postSignUpDays,
  };
};

/** `/plan-purchase` and `/plan-purchase/:planId`. */
export const atPurchase: PlaceOf = ({ publicUrl, searchAppUrl, wayOn, membership: { catalogue } }, req) => {
  const { planId } = req.params;
  const named = typeof planId === 'string' ? catalogue.byId(planId) : undefined;
  if (planId !== undefined && (!named || named.kind === 'partner')) return undefined;
  const errand = errandOf(req, publicUrl);
  const { search } = errand;
  const base = named ? `/plan-purchase/${named.id}` : '/plan-purchase';
  const away = (user: User) => (isAwaited(errand) ? wayOn(user, errand).address : searchAppUrl);
  return {
    kind: 'purchase',
    errand,
    named,
    fixed: true,
    summary: base + search,
    changePlan: `/plan-purchase${search}`,
    addPayment: `${base}/addPayment${search}`,
    setup: `${base}/addPayment/setup${search}`,
    summaryOf: (plan) => `/plan-purchase/${plan.id}${search}`,
    done: (plan) => completedAddress(plan, false, search),
    passed: (user) => wayOn(user, errand).address,
    cancel: away,
    trialDays: catalogue.trial.days,
  };
};
