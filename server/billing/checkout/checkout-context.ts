import { beginField } from '../../../views/billing/begin-box.tsx';
import { type PageHandler, type RequestContext, UnknownAddressError } from '../../http/index.ts';
import { type PlanId, toPlanId } from '../../shared/index.ts';
import { redirectToSignIn } from '../../sign-in/index.ts';
import { findOpenStep, type User } from '../../users/index.ts';
import { type Plan, proposedSeats, withSeats } from '../catalogue/catalogue.ts';
import {
  CardNotSavedError,
  type ChosenPromotion,
  type DisplayedQuote,
  type PurchaseView,
  type Quote,
  StripeUnavailableError,
  TaxLocationError,
} from '../results.ts';
import { endsWithin } from '../user-lock.ts';
import type { CheckoutDeps } from './checkout-deps.ts';
import type { CheckoutFlow, ResolveCheckoutFlow } from './checkout-flow.ts';
import { type PageNotice, placeNotice, type StripeAction, unavailableNotice } from './checkout-texts.ts';
import { findDealForSignUp } from './partner-deal.ts';

/** The facts about a user at the step PLAN. */
export interface Checkout {
  flow: CheckoutFlow;
  user: User;
  purchase: PurchaseView | undefined;
  /** The plan of the address, else the chosen plan, else the proposed one. */
  plan: Plan;
  /** The address or the user has named the plan; otherwise it is only a proposal, which no page preselects. */
  isChosen: boolean;
  /** Applied to that plan. */
  promotion: ChosenPromotion | null;
  /** It is the plan of a partner's deal: nothing can be chosen and nothing is charged. */
  deal: boolean;
}

/** A request of a user at the step PLAN. */
export interface CheckoutRequest extends RequestContext {
  /** A POST that begins a purchase replaces it. */
  checkout: Checkout;
  /** The beginning of the request, by `performance.now`. */
  beganMs: number;
}

export type CheckoutHandler = PageHandler<CheckoutDeps, CheckoutRequest>;

/** The plan with which the user's sign-up began; undefined: none. A partner's plan is bought at the partner. */
async function findSignUpPlan(
  { membership: { catalogue }, findPlanKey }: CheckoutDeps,
  user: User,
): Promise<Plan | undefined> {
  const planKey = user.planId === null ? await findPlanKey(user.id) : undefined;
  return planKey === undefined ? undefined : withoutPartner(catalogue.byKey(planKey));
}

/** A partner's handle belongs to a sign-up from the partner; without a deal it is ignored. */
const withoutPartner = (plan: Plan | undefined) => (plan?.kind === 'partner' ? undefined : plan);

/** A plan that is sold by the seat is shown with the number that its purchase begins with. */
async function withProposedSeats({ membership }: CheckoutDeps, { id }: User, plan: Plan): Promise<Plan> {
  if (plan.seats === null || plan.chosenSeats !== undefined) return plan;
  const own = await membership.getMembership(id);
  return withSeats(plan, proposedSeats(membership.catalogue, plan, own) ?? plan.seats.min);
}

/** Tests whether the user has this plan, with these seats. */
export const isOwnPlan = ({ user, plan }: Pick<Checkout, 'user' | 'plan'>): boolean =>
  user.planId === plan.id && (plan.chosenSeats === undefined || plan.chosenSeats === (user.seats ?? 1));

async function loadCheckout(deps: CheckoutDeps, flow: CheckoutFlow, user: User): Promise<Checkout> {
  const { membership } = deps;
  const bought = flow.kind === 'purchase' ? undefined : await findDealForSignUp(deps, user);
  if (bought) return { flow, user, purchase: undefined, plan: bought, isChosen: true, promotion: null, deal: true };
  const purchase = await membership.purchase(user.id);
  const named = withoutPartner(flow.named);
  const isNamed = named === undefined || purchase?.plan.id === named.id;
  const chosen = (isNamed ? purchase?.plan : undefined) ?? named ?? (await findSignUpPlan(deps, user));
  const plan = await withProposedSeats(deps, user, chosen ?? membership.catalogue.defaultPlan);
  const promotion = purchase?.plan.id === plan.id ? purchase.promotion : null;
  return { flow, user, purchase, plan, isChosen: chosen !== undefined, promotion, deal: false };
}

/**
 * The signed-in user without other open steps. Others are redirected: a visitor to the sign-in, or to the address of
 * `signInUrl`, and a user to the open step.
 */
export async function findCheckoutUser(
  r: RequestContext,
  deps: Pick<CheckoutDeps, 'publicUrl' | 'sessions' | 'terms' | 'nextRedirect'>,
  signInUrl?: () => Promise<string>,
): Promise<User | undefined> {
  const found = await deps.sessions.getCurrentUser(r.req);
  if (!found) {
    if (signInUrl) r.redirect(await signInUrl());
    else redirectToSignIn(r, deps.publicUrl);
    return undefined;
  }
  const { user } = found;
  if (findOpenStep(user, deps.terms) === undefined) return user;
  const returnTo = new URL(r.req.originalUrl, deps.publicUrl).href;
  const search = `?${new URLSearchParams({ redirect: returnTo })}`;
  r.redirect(deps.nextRedirect(user, { returnTo, search }).address);
  return undefined;
}

/**
 * For users at one of the places of the step PLAN; a user who already has a plan skips the steps of a sign-up. An
 * address that names an unknown plan is a page that does not exist.
 */
export function requireCheckout(resolveFlow: ResolveCheckoutFlow, handler: CheckoutHandler): PageHandler<CheckoutDeps> {
  return async (r, deps) => {
    const beganMs = performance.now();
    const flow = resolveFlow(r, deps);
    if (!flow) throw new UnknownAddressError();
    const signInUrl = flow.kind === 'sign-up' ? () => deps.verifyEmailUrl(r.req) : undefined;
    const user = await findCheckoutUser(r, deps, signInUrl);
    if (!user) return;
    if (flow.kind !== 'purchase' && user.planId !== null) {
      // A second click, or the back button.
      const plan = deps.membership.catalogue.byId(user.planId);
      const hasPaid = r.req.method === 'POST' || findPayingNotice(r) !== undefined;
      return r.redirect(hasPaid && plan ? flow.doneUrl(plan, user) : flow.skipUrl(user));
    }
    const checkout = await loadCheckout(deps, flow, user);
    await handler(Object.assign(r, { checkout, beganMs }), deps);
  };
}

const payingNotice = 'payment-in-progress:';

/** For a browser whose user knows that a payment is being completed. @param purchaseId '' if there is none */
export const toPayingNotice = (purchaseId: string): string => payingNotice + purchaseId;

/** @returns the id of the purchase; undefined: another notice */
export const readPayingNotice = (notice: string): string | undefined =>
  notice.startsWith(payingNotice) ? notice.slice(payingNotice.length) : undefined;

/** Finds the notice without taking it: the page after the payment takes it. */
export function findPayingNotice(r: RequestContext): string | undefined {
  let purchaseId: string | undefined;
  r.takeNotice((notice) => {
    purchaseId = readPayingNotice(notice);
    return undefined;
  });
  return purchaseId;
}

/** The page that settles a failed invoice, and explains a pause and a debit that waits. */
export const unpaidAddress = '/settings/membership';

/** Of the text `checkout.beginAtOnce`: another text gets another number, because orders name the one that was shown. */
const requestToBeginVersion = '1';

/** The announced amount from the form; it is compared, never used. */
export function readDisplayedQuote(r: RequestContext): DisplayedQuote {
  const due = r.field('dueCents');
  // No page announces a negative amount: invalid input never matches.
  const dueCents = /^\d{1,9}$/.test(due) ? Number(due) : -1;
  // Without it a form has announced no later charge: it is compared, too, and '' is none of its values.
  const seats = r.field('seats') === '' ? {} : { seats: Number(r.field('seats')) };
  const beginsAtOnce = r.field(beginField) === '1' ? `${requestToBeginVersion}-${r.lang}` : undefined;
  const end = r.field('trialEnd');
  // No page announces an end before 1970: invalid input never matches.
  const trialEnd = end === '' ? null : /^\d{1,15}$/.test(end) ? Number(end) : -1;
  return { planId: readPlanId(r), ...seats, dueCents, laterCents: r.field('laterCents'), trialEnd, beginsAtOnce };
}

/** The plan in the form; '' if there is none. */
export const readPlanId = (r: RequestContext): PlanId => toPlanId(r.field('planId'));

/** How a page is rendered again. */
export interface PageRetry {
  status: number;
  notice?: PageNotice;
  /** The current amount, if it is already known. */
  quote?: Quote;
  /** The user's address comes first: without it there is no amount. */
  needsPlace?: true;
  /** The user has not asked that the plan begins at once. */
  beginMissing?: true;
  /** An order is refused for some time: its button is not the main one of the page. */
  mustWait?: true;
}

export type Rerender = (repeated: PageRetry) => unknown;

const awayMs = 5_000;

/**
 * Runs an action that needs Stripe; if Stripe is unavailable, renders the page again.
 * `act` names it in the log; `rerender` renders the page, with status 503.
 * @returns undefined if the page was rendered
 */
export async function runOrRerender<R>(
  r: RequestContext,
  { act, rerender }: { act: string; rerender: (error: StripeUnavailableError) => unknown },
  work: () => Promise<R>,
): Promise<{ value: R } | undefined> {
  try {
    return { value: await work() };
  } catch (error) {
    if (!(error instanceof StripeUnavailableError)) throw error;
    if (!(error instanceof TaxLocationError)) {
      r.log.warn({ err: error, act }, 'Stripe does not answer');
      r.setRetryAfter(awayMs);
    }
    await rerender(error);
    return undefined;
  }
}

/**
 * The same for an action of the checkout, with the message for that action.
 * @returns undefined if the page was rendered
 */
export function runWithStripe<R>(
  r: RequestContext,
  { act, rerender }: { act: StripeAction; rerender: Rerender },
  work: () => Promise<R>,
): Promise<{ value: R } | undefined> {
  const repeat = (error: StripeUnavailableError) =>
    error instanceof TaxLocationError
      ? rerender({ status: 409, notice: placeNotice(r.t), needsPlace: true })
      : rerender({ status: 503, notice: unavailableNotice(r.t, error instanceof CardNotSavedError ? 'update' : act) });
  return runOrRerender(r, { act: `checkout: ${act}`, rerender: repeat }, work);
}

/**
 * The longest that a request with a payment waits for its result: browsers and reverse proxies give up after 60 seconds,
 * and the steps before and after the payment take some of them.
 */
const answeredWithinMs = 20_000;

const leftMs = ({ beganMs }: Pick<CheckoutRequest, 'beganMs'>) => beganMs + answeredWithinMs - performance.now();

/** To the page that says that the payment is being completed. */
function redirectToPaying(r: CheckoutRequest): void {
  const { flow, purchase } = r.checkout;
  r.announce(toPayingNotice(purchase?.id ?? ''));
  r.redirect(flow.summary);
}

/**
 * Runs a payment. After the limit, the user gets a page that follows it, and the payment continues: its result is in the
 * store.
 * @param rerender renders the page again if Stripe is unavailable
 * @returns undefined if the request was answered
 */
export async function runPayment<R>(
  r: CheckoutRequest,
  rerender: Rerender,
  work: () => Promise<R>,
): Promise<{ value: R } | undefined> {
  const running = work();
  if (await endsWithin(running, leftMs(r))) return runWithStripe(r, { act: 'confirm', rerender }, () => running);
  const { log } = r;
  const member = r.checkout.user.id;
  running.then(
    () => log.info({ act: 'checkout: confirm', member }, 'payment completed after its request was answered'),
    (err: unknown) => log.error({ err, act: 'checkout: confirm', member }, 'payment failed after its request'),
  );
  redirectToPaying(r);
  return undefined;
}

/** A form during a payment of the user, often a second click, waits for it and ends like it. */
export function afterPayments(handler: CheckoutHandler): CheckoutHandler {
  return async (r, deps) => {
    const hasEnded = await deps.membership.untilPaid(leftMs(r), r.checkout.user.id);
    return hasEnded ? handler(r, deps) : redirectToPaying(r);
  };
}
