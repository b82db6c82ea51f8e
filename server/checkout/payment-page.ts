import type { Request, Response } from 'express';
import { createElement } from 'react';
import { PaymentActionPage, PaymentPage, type PaymentPageProps } from '../../views/checkout/payment-page.tsx';
import { formatAmount } from '../../views/format.ts';
import type { PageContext } from '../../views/page-context.ts';
import { withErrand } from '../http/index.ts';
import { BillingUnavailable, type Quote } from '../membership/index.ts';
import type { CheckoutDeps } from './deps.ts';
import type { Here, PlaceHandler } from './here.ts';
import { announcing, quoteOf, shownQuote } from './quote.ts';
import { type Again, unlessAway } from './respond.ts';
import { stripeInPage, stripePolicy } from './stripe-in-browser.ts';

export interface PaymentShown extends Partial<Again> {
  /** Why a card was not accepted. */
  problem?: { text: string };
  /** The bank wants to hear from the member. */
  action?: { clientSecret: string; amountCents: number };
  /** The fields of a form that came while Stripe was away: sent once more, nothing of them need be entered again. */
  retryFields?: Record<string, string>;
}

/** Answers the page on which a card is entered, or its bank's question. */
export async function sendPaymentPage(
  deps: CheckoutDeps,
  req: Request,
  res: Response,
  here: Here,
  shown: PaymentShown,
): Promise<void> {
  const { action } = shown;
  return action ? sendAction(deps, req, res, here, action) : sendForm(deps, req, res, here, shown);
}

async function sendForm(
  deps: CheckoutDeps,
  req: Request,
  res: Response,
  here: Here,
  { quote: _known, ...given }: PaymentShown,
): Promise<void> {
  const { membership, pages, stripe } = deps;
  const { place, user } = here;
  const shown: PaymentShown | undefined = pages.shownAt(req, res, place.addPayment, given);
  if (!shown) return;
  const { status = 200, notice, problem, retryFields = {} } = shown;
  const { currency } = membership.catalogue;
  let quote: Quote | undefined;
  let away: Pick<Again, 'status' | 'notice'> | undefined;
  if (status !== 503) {
    const again = async (shownAgain: Again) => {
      away = shownAgain;
    };
    quote = (await unlessAway(deps, req, res, { act: 'quote', again }, () => quoteOf(deps, here)))?.value;
  }
  const standing = await membership.standing(user.id);
  const noticeOf = ({ t }: PageContext): PaymentPageProps['notice'] =>
    problem
      ? {
          kind: 'error',
          title: t('payment.errors.declinedTitle'),
          text: problem.text || t('payment.errors.failed'),
          duration: 'never',
        }
      : (notice ?? away?.notice);
  const page = (ctx: PageContext) =>
    createElement(PaymentPage, {
      ctx: withErrand(ctx, place.errand.search),
      steps: place.kind,
      stripe: stripeInPage(stripe, ctx.lang),
      action: place.addPayment,
      setupUrl: place.setup,
      backHref: place.summary,
      notice: noticeOf(ctx),
      quote: quote && quoteShown(ctx, quote, currency),
      retryFields,
      card: standing?.card ?? undefined,
    });
  pages.send(req, res, away?.status ?? status, page, {
    title: (ctx) => ctx.t('payment.title'),
    address: place.addPayment,
    policy: stripePolicy(stripe),
  });
}

function quoteShown(ctx: PageContext, quote: Quote, currency: string): NonNullable<PaymentPageProps['quote']> {
  const { dueCents } = quote;
  return {
    ...shownQuote(ctx, quote, currency),
    announced: announcing(quote),
    due: dueCents > 0 ? formatAmount(ctx.lang, dueCents, { currency }) : undefined,
  };
}

/** Where the member can pay without scripts: Stripe's page of the invoice that waits. */
async function hostedInvoice({ membership, log }: CheckoutDeps, { user }: Here): Promise<string | undefined> {
  try {
    const invoices = await membership.invoices(user);
    return invoices.find(({ status }) => status === 'open')?.url ?? undefined;
  } catch (error) {
    if (!(error instanceof BillingUnavailable)) throw error;
    log.warn({ err: error, act: 'checkout: invoice' }, 'Stripe does not answer');
    return undefined;
  }
}

async function sendAction(
  deps: CheckoutDeps,
  req: Request,
  res: Response,
  here: Here,
  { clientSecret, amountCents }: NonNullable<PaymentShown['action']>,
): Promise<void> {
  const { membership, pages, stripe } = deps;
  const { place, user, plan } = here;
  const { currency } = membership.catalogue;
  const standing = await membership.standing(user.id);
  const hostedInvoiceUrl = await hostedInvoice(deps, here);
  const page = (ctx: PageContext) =>
    createElement(PaymentActionPage, {
      ctx: withErrand(ctx, place.errand.search),
      steps: place.kind,
      stripe: stripeInPage(stripe, ctx.lang),
      action: place.addPayment,
      backHref: place.summary,
      clientSecret,
      paymentMethodId: standing?.card?.paymentMethodId,
      amount: formatAmount(ctx.lang, amountCents, { currency }),
      retryFields: announcing({ plan, dueCents: amountCents }),
      hostedInvoiceUrl,
    });
  pages.send(req, res, 200, page, {
    title: (ctx) => ctx.t('payment.bank.title'),
    address: place.addPayment,
    policy: stripePolicy(stripe),
  });
}

/** GET: the page for a card, with what it will be charged. */
export function showPayment(deps: CheckoutDeps): PlaceHandler {
  return (req, res, here) => sendPaymentPage(deps, req, res, here, {});
}
