import {
  PaymentActionPage,
  PaymentPage,
  type PaymentPageProps,
  type ReturnedMethod,
} from '../../../views/billing/payment-page.tsx';
import { formatAmount } from '../../../views/format.ts';
import type { T } from '../../http/index.ts';
import { needsPaymentElement } from '../cards/payment-methods.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import { type Quote, StripeUnavailableError } from '../results.ts';
import type { CheckoutRequest } from './checkout-context.ts';
import type { CheckoutDeps } from './checkout-deps.ts';
import type { TextContext } from './plan-view.ts';
import { loadQuote, orderText, quoteFields, toQuoteView } from './quote-view.ts';
import { readReturn } from './returned-method.ts';
import { type PageRetry, runWithStripe } from './run-or-rerender.ts';
import { type StripeForBrowsers, stripeInPage, stripePolicy } from './stripe-js.ts';

export interface PaymentPageState extends Partial<PageRetry> {
  /** The reason that a card was not accepted. */
  problem?: { text: string };
  /** The bank requires authentication by the user. */
  action?: { clientSecret: string; amountCents: number };
  /** A payment method that the user's bank has just confirmed on its own page. */
  returned?: ReturnedMethod;
  /** The fields of a form that arrived while Stripe was unavailable: the user can submit them again without typing. */
  retryFields?: Record<string, string>;
}

/** Renders the page for a card, or for its bank's authentication. */
export async function renderPaymentPage(
  r: CheckoutRequest,
  deps: CheckoutDeps,
  state: PaymentPageState,
): Promise<void> {
  const { action } = state;
  return action ? renderAction(r, deps, action) : renderForm(r, deps, state);
}

async function renderForm(
  r: CheckoutRequest,
  deps: CheckoutDeps,
  { quote: _known, ...args }: PaymentPageState,
): Promise<void> {
  const { membership, stripe } = deps;
  const { flow, user } = r.checkout;
  const state: PaymentPageState | undefined = r.viewAt(flow.addPayment, args);
  if (!state) return;
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
  const currentMembership = await membership.getMembership(user.id);
  r.render(
    PaymentPage,
    {
      steps: flow.kind,
      stripe: stripeInPage(stripe, r.lang, membership.catalogue.currency),
      action: flow.addPayment,
      setupUrl: flow.setup,
      backHref: flow.summary,
      notice: problem ? problemNotice(r.t, problem, stripe) : (notice ?? unavailable?.notice),
      quote: quote && quoteView(r, quote, membership.catalogue),
      retryFields,
      returned,
      card: currentMembership?.card ?? undefined,
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

const problemNotice = (
  t: T,
  { text }: { text: string },
  { methods }: Pick<StripeForBrowsers, 'methods'>,
): PaymentPageProps['notice'] => ({
  kind: 'error',
  title: t(needsPaymentElement(methods) ? 'payment.methods.declinedTitle' : 'payment.errors.declinedTitle'),
  text: text || t('payment.errors.failed'),
  duration: 'never',
});

function quoteView(ctx: TextContext, quote: Quote, catalogue: Catalogue): NonNullable<PaymentPageProps['quote']> {
  const { dueCents } = quote;
  const { currency } = catalogue;
  return {
    ...toQuoteView(ctx, quote, catalogue),
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
  { clientSecret, amountCents }: NonNullable<PaymentPageState['action']>,
): Promise<void> {
  const { membership, stripe } = deps;
  const { flow, user, plan } = r.checkout;
  const { currency } = membership.catalogue;
  const currentMembership = await membership.getMembership(user.id);
  r.render(
    PaymentActionPage,
    {
      steps: flow.kind,
      stripe: stripeInPage(stripe, r.lang, membership.catalogue.currency),
      action: flow.addPayment,
      backHref: flow.summary,
      clientSecret,
      paymentMethodId: currentMembership?.card?.paymentMethodId,
      amount: formatAmount(r.lang, amountCents, { currency }),
      retryFields: quoteFields({ plan, dueCents: amountCents }),
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
