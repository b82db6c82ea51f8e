import type { Request, Response } from 'express';
import { createElement } from 'react';
import type { CheckoutNoticeProps } from '../../views/checkout/checkout-notice.tsx';
import { formatAmount } from '../../views/format.ts';
import { BankQuestionPage, ChangeCardPage } from '../../views/settings/change-card-page.tsx';
import type { User } from '../account/index.ts';
import { field } from '../http/index.ts';
import { beginCard } from './begin-card.ts';
import type { CheckoutDeps } from './deps.ts';
import { type Again, unlessAway } from './respond.ts';
import { stripeInPage, stripePolicy } from './stripe-in-browser.ts';

export type CardPageDeps = Pick<CheckoutDeps, 'pages' | 'log' | 'stripe'> & {
  membership: Pick<CheckoutDeps['membership'], 'catalogue' | 'standing' | 'beginCard' | 'keepCard' | 'invoices'>;
};

/** Where a member changes their card. */
export interface CardPlace {
  /** Of the page, where its form goes. */
  action: string;
  /** Where `begin` answers its script. */
  setup: string;
  back: string;
  /** Once the card is saved. */
  done: string;
}

/** As the guards of the settings have it. */
interface Member {
  user: User;
}

interface Shown {
  status?: number;
  notice?: CheckoutNoticeProps | undefined;
  retryFields?: Record<string, string>;
}

/** The card that is charged, without a purchase: the page (GET), its form (POST), and what its script asks (POST of `setup`). */
export function cardPage(deps: CardPageDeps, { action, setup, back, done }: CardPlace) {
  const { membership, pages, stripe } = deps;

  async function send(req: Request, res: Response, user: User, given: Shown): Promise<void> {
    const shown = pages.shownAt(req, res, action, given);
    if (!shown) return;
    const { status = 200, notice, retryFields } = shown;
    const card = (await membership.standing(user.id))?.card ?? undefined;
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
    show: (req: Request, res: Response, { user }: Member) => send(req, res, user, {}),
    begin: (req: Request, res: Response, { user }: Member) => beginCard(deps, req, res, user),
    async save(req: Request, res: Response, { user }: Member): Promise<void> {
      const { t } = req;
      const setupIntent = field(req, 'setupIntent');
      const again = (shown: Again) => send(req, res, user, { ...shown, retryFields: { setupIntent } });
      const keep = () => membership.keepCard(user, setupIntent);
      const answered = await unlessAway(deps, req, res, { act: 'update', again }, keep);
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

/** What a bank's question is about, and where its page leads. */
export interface BankQuestion {
  clientSecret: string;
  amountCents: number;
  /** Stripe's page of the invoice, for members without scripts. */
  hostedInvoiceUrl: string | undefined;
  /** Where `act` is posted: `outcome` once the member has answered, `retryFields` to try again. */
  action: string;
  retryFields: Record<string, string>;
  otherCardHref: string;
  back: string;
}

/** Answers the page on which the bank asks the member about an invoice of theirs (3-D Secure). */
export async function sendBankQuestion(
  { membership, pages, stripe }: CardPageDeps,
  req: Request,
  res: Response,
  user: User,
  { amountCents, back, ...question }: BankQuestion,
): Promise<void> {
  const { currency } = membership.catalogue;
  const paymentMethodId = (await membership.standing(user.id))?.card?.paymentMethodId;
  pages.send(
    req,
    res,
    200,
    (ctx) =>
      createElement(BankQuestionPage, {
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
