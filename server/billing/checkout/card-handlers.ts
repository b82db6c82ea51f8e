import type { Request, Response } from 'express';
import { createElement } from 'react';
import { CardActionPage, ChangeCardPage } from '../../../views/account/change-card-page.tsx';
import type { CheckoutNoticeProps } from '../../../views/billing/checkout-notice.tsx';
import { formatAmount } from '../../../views/format.ts';
import { readFormField } from '../../http/index.ts';
import type { User } from '../../users/index.ts';
import { type PageRetry, runWithStripe } from './answer-purchase.ts';
import type { CheckoutDeps } from './checkout-deps.ts';
import { createSetupIntent } from './create-setup-intent.ts';
import { stripeInPage, stripePolicy } from './stripe-js.ts';

export type CardPageDeps = Pick<CheckoutDeps, 'pages' | 'log' | 'stripe'> & {
  membership: Pick<CheckoutDeps['membership'], 'catalogue' | 'getMembership' | 'beginCard' | 'keepCard' | 'invoices'>;
};

/** The pages on which a user changes their card. */
export interface CardPagePaths {
  /** The target of the page's form. */
  action: string;
  /** The address of `createSetupIntent` for the page's script. */
  setup: string;
  back: string;
  /** The page after the card was saved. */
  done: string;
}

/** From the guards of the settings. */
interface SignedInUser {
  user: User;
}

interface CardPageState {
  status?: number;
  notice?: CheckoutNoticeProps | undefined;
  retryFields?: Record<string, string>;
}

/**
 * The form for the charged card, without a purchase: the page (GET), its form (POST), and the request of its script
 * (POST of `setup`).
 */
export function cardPage(deps: CardPageDeps, { action, setup, back, done }: CardPagePaths) {
  const { membership, pages, stripe } = deps;

  async function send(req: Request, res: Response, user: User, state: CardPageState): Promise<void> {
    const pageState = pages.shownAt(req, res, action, state);
    if (!pageState) return;
    const { status = 200, notice, retryFields } = pageState;
    const card = (await membership.getMembership(user.id))?.card ?? undefined;
    const page = { action, setupUrl: setup, backHref: back, notice, card, retryFields };
    pages.send(
      req,
      res,
      status,
      (ctx) => createElement(ChangeCardPage, { ctx, stripe: stripeInPage(stripe, ctx.lang), ...page }),
      { title: (ctx) => ctx.t('payment.change.title'), address: action, policy: stripePolicy(stripe) },
    );
  }

  return {
    show: (req: Request, res: Response, { user }: SignedInUser) => send(req, res, user, {}),
    begin: (req: Request, res: Response, { user }: SignedInUser) => createSetupIntent(deps, req, res, user),
    async save(req: Request, res: Response, { user }: SignedInUser): Promise<void> {
      const { t } = req;
      const setupIntent = readFormField(req, 'setupIntent');
      const rerender = (view: PageRetry) => send(req, res, user, { ...view, retryFields: { setupIntent } });
      const keep = () => membership.keepCard(user, setupIntent);
      const answered = await runWithStripe(deps, req, res, { act: 'update', rerender }, keep);
      if (!answered) return;
      const { value: saved } = answered;
      if (saved.kind === 'saved') return res.redirect(303, done);
      const declined = saved.kind === 'declined';
      const text = declined ? saved.message : t('payment.errors.notConfirmed');
      const title = t('payment.errors.declinedTitle');
      await send(req, res, user, {
        status: declined ? 402 : 400,
        notice: { kind: 'error', title, text, duration: 'never' },
      });
    },
  };
}

/** The invoice that the bank asks about, and the addresses of its page. */
export interface PaymentAction {
  clientSecret: string;
  amountCents: number;
  /** Stripe's page of the invoice, for users without scripts. */
  hostedInvoiceUrl: string | undefined;
  /** The target of `act`: `outcome` after the user has authenticated, `retryFields` for another attempt. */
  action: string;
  retryFields: Record<string, string>;
  otherCardHref: string;
  back: string;
}

/** Renders the page on which the bank authenticates the user for an invoice (3-D Secure). */
export async function renderPaymentAction(
  { membership, pages, stripe }: CardPageDeps,
  req: Request,
  res: Response,
  user: User,
  { amountCents, back, ...question }: PaymentAction,
): Promise<void> {
  const { currency } = membership.catalogue;
  const paymentMethodId = (await membership.getMembership(user.id))?.card?.paymentMethodId;
  pages.send(
    req,
    res,
    200,
    (ctx) =>
      createElement(CardActionPage, {
        ctx,
        stripe: stripeInPage(stripe, ctx.lang),
        backHref: back,
        amount: formatAmount(ctx.lang, amountCents, { currency }),
        paymentMethodId,
        ...question,
      }),
    { title: (ctx) => ctx.t('payment.bank.title'), address: back, policy: stripePolicy(stripe) },
  );
}
