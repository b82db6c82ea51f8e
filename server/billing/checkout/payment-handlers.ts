import type { Request, Response } from 'express';
import { createElement } from 'react';
import { PaymentActionPage, PaymentPage, type PaymentPageProps } from '../../../views/billing/payment-page.tsx';
import { formatAmount } from '../../../views/format.ts';
import type { PageContext } from '../../../views/page-context.ts';
import { withContinuation } from '../../http/index.ts';
import { type Quote, StripeUnavailableError } from '../results.ts';
import { type PageRetry, runWithStripe } from './answer-purchase.ts';
import type { CheckoutContext, CheckoutHandler } from './checkout-context.ts';
import type { CheckoutDeps } from './checkout-deps.ts';
import { loadQuote, quoteFields, toQuoteView } from './quote-view.ts';
import { stripeInPage, stripePolicy } from './stripe-js.ts';

export interface PaymentPageState extends Partial<PageRetry> {
  /** The reason that a card was not accepted. */
  problem?: { text: string };
  /** The bank requires authentication by the user. */
  action?: { clientSecret: string; amountCents: number };
  /** The fields of a form that arrived while Stripe was unavailable: the user can submit them again without typing. */
  retryFields?: Record<string, string>;
}

/** Renders the page for a card, or for its bank's authentication. */
export async function renderPaymentPage(
  deps: CheckoutDeps,
  req: Request,
  res: Response,
  context: CheckoutContext,
  state: PaymentPageState,
): Promise<void> {
  const { action } = state;
  return action ? renderAction(deps, req, res, context, action) : sendForm(deps, req, res, context, state);
}

async function sendForm(
  deps: CheckoutDeps,
  req: Request,
  res: Response,
  context: CheckoutContext,
  { quote: _known, ...args }: PaymentPageState,
): Promise<void> {
  const { membership, pages, stripe } = deps;
  const { flow, user } = context;
  const state: PaymentPageState | undefined = pages.shownAt(req, res, flow.addPayment, args);
  if (!state) return;
  const { status = 200, notice, problem, retryFields = {} } = state;
  const { currency } = membership.catalogue;
  let quote: Quote | undefined;
  let unavailable: Pick<PageRetry, 'status' | 'notice'> | undefined;
  if (status !== 503) {
    const rerender = async (shownAgain: PageRetry) => {
      unavailable = shownAgain;
    };
    quote = (await runWithStripe(deps, req, res, { act: 'quote', rerender }, () => loadQuote(deps, context)))?.value;
  }
  const currentMembership = await membership.getMembership(user.id);
  const toNotice = ({ t }: PageContext): PaymentPageProps['notice'] =>
    problem
      ? {
          kind: 'error',
          title: t('payment.errors.declinedTitle'),
          text: problem.text || t('payment.errors.failed'),
          duration: 'never',
        }
      : (notice ?? unavailable?.notice);
  const page = (ctx: PageContext) =>
    createElement(PaymentPage, {
      ctx: withContinuation(ctx, flow.continuation.search),
      steps: flow.kind,
      stripe: stripeInPage(stripe, ctx.lang),
      action: flow.addPayment,
      setupUrl: flow.setup,
      backHref: flow.summary,
      notice: toNotice(ctx),
      quote: quote && quoteView(ctx, quote, currency),
      retryFields,
      card: currentMembership?.card ?? undefined,
    });
  pages.send(req, res, unavailable?.status ?? status, page, {
    title: (ctx) => ctx.t('payment.title'),
    address: flow.addPayment,
    policy: stripePolicy(stripe),
  });
}

function quoteView(ctx: PageContext, quote: Quote, currency: string): NonNullable<PaymentPageProps['quote']> {
  const { dueCents } = quote;
  return {
    ...toQuoteView(ctx, quote, currency),
    announced: quoteFields(quote),
    due: dueCents > 0 ? formatAmount(ctx.lang, dueCents, { currency }) : undefined,
  };
}

/** The page for payments without scripts: Stripe's page of the open invoice. */
async function hostedInvoice(
  { membership, log }: CheckoutDeps,
  { user }: CheckoutContext,
): Promise<string | undefined> {
  try {
    const invoices = await membership.invoices(user);
    return invoices.find(({ status }) => status === 'open')?.url ?? undefined;
  } catch (error) {
    if (!(error instanceof StripeUnavailableError)) throw error;
    log.warn({ err: error, act: 'checkout: invoice' }, 'Stripe does not answer');
    return undefined;
  }
}

async function renderAction(
  deps: CheckoutDeps,
  req: Request,
  res: Response,
  context: CheckoutContext,
  { clientSecret, amountCents }: NonNullable<PaymentPageState['action']>,
): Promise<void> {
  const { membership, pages, stripe } = deps;
  const { flow, user, plan } = context;
  const { currency } = membership.catalogue;
  const currentMembership = await membership.getMembership(user.id);
  const hostedInvoiceUrl = await hostedInvoice(deps, context);
  const page = (ctx: PageContext) =>
    createElement(PaymentActionPage, {
      ctx: withContinuation(ctx, flow.continuation.search),
      steps: flow.kind,
      stripe: stripeInPage(stripe, ctx.lang),
      action: flow.addPayment,
      backHref: flow.summary,
      clientSecret,
      paymentMethodId: currentMembership?.card?.paymentMethodId,
      amount: formatAmount(ctx.lang, amountCents, { currency }),
      retryFields: quoteFields({ plan, dueCents: amountCents }),
      hostedInvoiceUrl,
    });
  pages.send(req, res, 200, page, {
    title: (ctx) => ctx.t('payment.bank.title'),
    address: flow.addPayment,
    policy: stripePolicy(stripe),
  });
}

/** GET: the page for a card, with the amount. */
export function showPayment(deps: CheckoutDeps): CheckoutHandler {
  return (req, res, context) => renderPaymentPage(deps, req, res, context, {});
}
