import { beginField } from '../../../views/billing/begin-box.tsx';
import {
  PaymentActionPage,
  PaymentPage,
  type PaymentPageProps,
  type ReturnedMethod,
} from '../../../views/billing/payment-page.tsx';
import { formatAmount } from '../../../views/format.ts';
import { HttpError, type T } from '../../http/index.ts';
import type { Catalogue, Plan } from '../catalogue/catalogue.ts';
import { toDetailsView } from '../details/details-view.ts';
import { type CardPaymentResult, type PurchaseResult, type Quote, StripeUnavailableError } from '../results.ts';
import { currentPaidPlan } from '../subscription/membership-state.ts';
import {
  type CheckoutRequest,
  type PageRetry,
  type Rerender,
  readDisplayedQuote,
  runPayment,
  runWithStripe,
  unpaidAddress,
} from './checkout-context.ts';
import type { CheckoutDeps } from './checkout-deps.ts';
import { refusalText, refusedTrialNotice, renewalNotice, tooManyText } from './checkout-texts.ts';
import { createSetupIntent } from './create-setup-intent.ts';
import type { TextContext } from './plan-view.ts';
import { loadQuote, orderText, quoteFields, toBeginBox, toQuoteView } from './quote-view.ts';
import { readReturn } from './returned-method.ts';
import { stripeInPage, stripePolicy } from './stripe-js.ts';
import { findEndedTrial } from './trial-step.ts';
import { findTrialEnd } from './trial-view.ts';

interface PaymentPageState extends Partial<PageRetry> {
  /** The reason that a card was not accepted. */
  problem?: { text: string };
  /** The bank requires authentication by the user. */
  action?: Pick<Extract<PurchaseResult, { kind: 'action' }>, 'clientSecret' | 'amountCents' | 'laterCents'> & {
    /** The user has asked that the plan begins at once. */
    begins: boolean;
  };
  /** A payment method that the user's bank has just confirmed on its own page. */
  returned?: ReturnedMethod;
  /** The fields of a form that arrived while Stripe was unavailable: the user can submit them again without typing. */
  retryFields?: Record<string, string>;
}

/** Renders the page for a card, or for its bank's authentication. */
async function renderPaymentPage(r: CheckoutRequest, deps: CheckoutDeps, state: PaymentPageState): Promise<void> {
  const { action } = state;
  return action ? renderAction(r, deps, action) : renderForm(r, deps, state);
}

async function renderForm(
  r: CheckoutRequest,
  deps: CheckoutDeps,
  { quote: _announced, ...args }: PaymentPageState,
): Promise<void> {
  const { membership, stripe } = deps;
  const { flow, user } = r.checkout;
  const state: PaymentPageState | undefined = r.viewAt(flow.addPayment, args);
  if (!state) return;
  // The summary names what is missing.
  if (state.needsPlace) return r.redirect(flow.summary);
  const { status = 200, notice, problem, retryFields = {}, returned } = state;
  let quote: Quote | undefined;
  let unavailable: PageRetry | undefined;
  if (status !== 503) {
    const rerender = async (repeated: PageRetry) => {
      unavailable = repeated;
    };
    const answered = await runWithStripe(r, { act: 'quote', rerender }, () => loadQuote(deps, r.checkout));
    quote = answered?.value;
  }
  if (unavailable?.needsPlace) return r.redirect(flow.summary);
  const [currentMembership, details] = [await membership.getMembership(user.id), await membership.findDetails(user.id)];
  const { catalogue } = membership;
  const known = {
    catalogue,
    endedTrial: findEndedTrial(currentMembership, catalogue, deps.now()),
    current: currentMembership && currentPaidPlan(catalogue, currentMembership),
  };
  r.render(
    PaymentPage,
    {
      steps: flow.kind,
      stripe: stripeInPage(stripe, r, membership.catalogue.currency),
      action: flow.addPayment,
      setupUrl: flow.setup,
      details: {
        view: toDetailsView(r, user, details),
        href: flow.billingDetails,
        country: details.details.country || undefined,
      },
      backHref: flow.summary,
      notice: problem
        ? problemNotice(r.t, problem)
        : (notice ?? unavailable?.notice ?? (quote && refusedTrialNotice(r, quote, membership.catalogue.currency))),
      quote: quote && quoteView(r, quote, { ...known, ...state }),
      retryFields,
      returned,
      card: currentMembership?.card ?? undefined,
      mustWait: state.mustWait,
    },
    {
      title: 'payment.title',
      address: flow.addPayment,
      policy: stripePolicy(stripe),
      status: unavailable?.status ?? status,
      search: flow.continuation.search,
    },
  );
}

const problemNotice = (t: T, { text }: { text: string }): PaymentPageProps['notice'] => ({
  kind: 'error',
  text: text || t('payment.errors.failed'),
  duration: 'never',
});

function quoteView(
  ctx: TextContext,
  quote: Quote,
  {
    catalogue,
    beginMissing = false,
    ...present
  }: { catalogue: Catalogue; endedTrial: string | undefined; current: Plan | undefined; beginMissing?: boolean },
): NonNullable<PaymentPageProps['quote']> {
  const { dueCents } = quote;
  const { currency } = catalogue;
  return {
    ...toQuoteView(ctx, quote, { ...catalogue, ...present }),
    begin: toBeginBox(ctx, quote, { catalogue, isMissing: beginMissing }),
    plan: quote.plan.name,
    isTrial: findTrialEnd(quote) !== undefined,
    announced: quoteFields(quote),
    due: dueCents > 0 ? formatAmount(ctx.lang, dueCents, { currency }) : undefined,
    order: orderText(ctx, quote, currency),
  };
}

/** The page for payments without scripts: Stripe's page of the open invoice. */
async function findHostedInvoice(r: CheckoutRequest, { membership }: CheckoutDeps): Promise<string | undefined> {
  try {
    const invoices = await membership.invoices(r.checkout.user);
    return invoices.find(({ status }) => status === 'open')?.url ?? undefined;
  } catch (error) {
    if (!(error instanceof StripeUnavailableError)) throw error;
    r.log.warn({ err: error, act: 'checkout: invoice' }, 'Stripe does not answer');
    return undefined;
  }
}

async function renderAction(
  r: CheckoutRequest,
  deps: CheckoutDeps,
  { clientSecret, amountCents, laterCents, begins }: NonNullable<PaymentPageState['action']>,
): Promise<void> {
  const { membership, stripe } = deps;
  const { flow, user, plan } = r.checkout;
  const { currency } = membership.catalogue;
  const currentMembership = await membership.getMembership(user.id);
  r.render(
    PaymentActionPage,
    {
      steps: flow.kind,
      stripe: stripeInPage(stripe, r, membership.catalogue.currency),
      action: flow.addPayment,
      backHref: flow.summary,
      clientSecret,
      paymentMethodId: currentMembership?.card?.paymentMethodId,
      amount: formatAmount(r.lang, amountCents, { currency }),
      retryFields: {
        planId: plan.id,
        ...(plan.chosenSeats !== undefined && { seats: String(plan.chosenSeats) }),
        dueCents: String(amountCents),
        ...(laterCents !== undefined && { laterCents }),
        ...(begins && { [beginField]: '1' }),
      },
      hostedInvoiceUrl: await findHostedInvoice(r, deps),
    },
    {
      title: 'payment.bank.title',
      address: flow.addPayment,
      policy: stripePolicy(stripe),
      search: flow.continuation.search,
    },
  );
}

/** GET: the page for a card, with the amount; also after the page of a user's bank. */
export async function showPayment(r: CheckoutRequest, deps: CheckoutDeps): Promise<unknown> {
  const retry = { act: 'quote', rerender: (view: PageRetry) => renderPaymentPage(r, deps, view) } as const;
  const answered = await runWithStripe(r, retry, () => readReturn(r, deps, r.checkout.user));
  return answered && renderPaymentPage(r, deps, answered.value);
}

/** The page of each thing that must be there, or be settled, before a charge. */
const detours = {
  'no-billing-details': ({ billingDetails }) => billingDetails,
  'no-card': ({ addPayment }) => addPayment,
  'unpaid-first': () => unpaidAddress,
  processing: () => unpaidAddress,
  'debit-waiting': () => unpaidAddress,
  paused: () => unpaidAddress,
} satisfies { [Kind in PurchaseResult['kind']]?: (flow: CheckoutRequest['checkout']['flow']) => string };

type Detour = Extract<PurchaseResult, { kind: keyof typeof detours }>;

const isDetour = (result: PurchaseResult): result is Detour => Object.hasOwn(detours, result.kind);

/** Why another amount is due than the form has named. */
function changedNotice(r: CheckoutRequest, { catalogue }: Pick<CheckoutDeps['membership'], 'catalogue'>, quote: Quote) {
  const refused = r.field('trialEnd') === '' ? undefined : refusedTrialNotice(r, quote, catalogue.currency);
  return refused ?? ({ kind: 'info', text: r.t('checkout.changed'), duration: 'never' } as const);
}

/** Answers each result of a confirmation. @param rerender the page whose form was sent */
export async function answerPurchase(
  r: CheckoutRequest,
  deps: CheckoutDeps,
  { confirmed, rerender }: { confirmed: PurchaseResult; rerender: Rerender },
): Promise<unknown> {
  const { t } = r;
  const { flow, user } = r.checkout;
  if (isDetour(confirmed)) return r.redirect(detours[confirmed.kind](flow));
  switch (confirmed.kind) {
    case 'paid':
    case 'scheduled':
      return r.redirect(flow.doneUrl(confirmed.plan, user));
    case 'no-change':
      return r.redirect(confirmed.plan ? flow.doneUrl(confirmed.plan, user) : flow.summary);
    case 'action': {
      const { clientSecret, amountCents, laterCents } = confirmed;
      const begins = r.field(beginField) === '1';
      return renderPaymentPage(r, deps, { status: 200, action: { clientSecret, amountCents, laterCents, begins } });
    }
    case 'declined':
      return renderPaymentPage(r, deps, { status: 402, problem: { text: refusalText(r, confirmed) } });
    case 'changed':
      return rerender({
        status: 409,
        notice: changedNotice(r, deps.membership, confirmed.quote),
        quote: confirmed.quote,
      });
    case 'no-request-to-begin':
      return rerender({ status: 400, beginMissing: true });
    case 'renewing':
      return rerender({ status: 409, notice: renewalNotice(r, confirmed.renewal) });
    case 'too-many': {
      r.setRetryAfter(confirmed.retryAfterMs);
      const text = tooManyText(t, 'pay', confirmed.retryAfterMs);
      return rerender({ status: 429, notice: { kind: 'error', text, duration: 'never' }, mustWait: true });
    }
  }
}

/** POST …/setup, by the card form's script. */
export const startCardSetup = (r: CheckoutRequest, deps: CheckoutDeps) => createSetupIntent(r, deps, r.checkout.user);

/** POST: saves and charges a new card, charges the saved one, or reads the result of a payment. */
export async function submitPayment(r: CheckoutRequest, deps: CheckoutDeps) {
  const { membership } = deps;
  const { user } = r.checkout;
  const act = r.field('act');
  if (!['', 'save-card', 'outcome'].includes(act)) {
    throw new HttpError('badRequest', { detail: 'unknown form action' });
  }
  const names = ['act', 'planId', 'seats', 'dueCents', 'laterCents', 'trialEnd', 'setupIntent', beginField].filter(
    (name) => r.field(name) !== '',
  );
  const retryFields = Object.fromEntries(names.map((name) => [name, r.field(name)]));
  const rerender = (state: PaymentPageState) => renderPaymentPage(r, deps, { ...state, retryFields });
  const work = (): Promise<CardPaymentResult> => {
    if (act === 'outcome') return membership.outcome(user);
    const [announced, from] = [readDisplayedQuote(r), { ip: r.ip }];
    return act === 'save-card'
      ? membership.payWithCard(user, { setupIntentId: r.field('setupIntent'), announced }, from)
      : membership.confirm(user, announced, from);
  };
  const answered = await runPayment(r, rerender, work);
  if (!answered) return;
  const { value: result } = answered;
  if (result.kind !== 'card-refused') return answerPurchase(r, deps, { confirmed: result, rerender });
  const { saved } = result;
  return saved.kind === 'declined'
    ? rerender({ status: 402, problem: { text: refusalText(r, saved) } })
    : rerender({ status: 400, problem: { text: r.t('payment.errors.notConfirmed') } });
}
