import { CardActionPage, ChangeCardPage } from '../../../views/account/change-card-page.tsx';
import type { ReturnedMethod } from '../../../views/billing/payment-page.tsx';
import { formatAmount } from '../../../views/format.ts';
import type { PageNoticeProps } from '../../../views/parts/page-notice.tsx';
import type { NextPage } from '../../http/index.ts';
import type { UserRequest } from '../../sign-in/index.ts';
import { type PageRetry, runWithStripe } from './checkout-context.ts';
import type { CheckoutDeps } from './checkout-deps.ts';
import { refusalText } from './checkout-texts.ts';
import { createSetupIntent } from './create-setup-intent.ts';
import { readReturn } from './returned-method.ts';
import { stripeInPage, stripePolicy } from './stripe-js.ts';

type CardPageDeps = Pick<CheckoutDeps, 'stripe'> & {
  membership: Pick<
    CheckoutDeps['membership'],
    'catalogue' | 'getMembership' | 'beginCard' | 'findReturned' | 'keepCard'
  >;
};

/** The pages on which a user changes their card. */
interface CardPagePaths {
  /** The target of the page's form. */
  action: string;
  /** The address of `createSetupIntent` for the page's script. */
  setup: string;
  back: string;
  /** The page after the card was saved. */
  done: NextPage;
}

interface CardPageState {
  status?: number;
  notice?: PageNoticeProps | undefined;
  retryFields?: Record<string, string>;
  returned?: ReturnedMethod;
}

/**
 * The form for the charged card, without a purchase: the page (GET), its form (POST), and the request of its script
 * (POST of `setup`).
 */
export function cardPage({ action, setup, back, done }: CardPagePaths) {
  async function render(r: UserRequest, { membership, stripe }: CardPageDeps, state: CardPageState): Promise<void> {
    const pageState = r.viewAt(action, state);
    if (!pageState) return;
    const { status, notice, retryFields, returned } = pageState;
    const card = (await membership.getMembership(r.user.id))?.card ?? undefined;
    const page = { action, setupUrl: setup, backHref: back, notice, card, retryFields, returned };
    r.render(
      ChangeCardPage,
      { stripe: stripeInPage(stripe, r, membership.catalogue.currency), ...page },
      { title: 'payment.change.title', address: action, policy: stripePolicy(stripe), status },
    );
  }

  return {
    async show(r: UserRequest, deps: CardPageDeps): Promise<void> {
      const retry = { act: 'update', rerender: (view: PageRetry) => render(r, deps, view) } as const;
      const answered = await runWithStripe(r, retry, () => readReturn(r, deps, r.user));
      if (!answered) return;
      const { problem, ...state } = answered.value;
      const notice = problem && ({ kind: 'error', duration: 'never', ...problem } as const);
      await render(r, deps, { ...state, notice });
    },
    begin: (r: UserRequest, deps: CardPageDeps) => createSetupIntent(r, deps, r.user),
    async save(r: UserRequest, deps: CardPageDeps): Promise<void> {
      const { t } = r;
      const setupIntent = r.field('setupIntent');
      const rerender = (view: PageRetry) => render(r, deps, { ...view, retryFields: { setupIntent } });
      const keep = () => deps.membership.keepCard(r.user, setupIntent);
      const answered = await runWithStripe(r, { act: 'update', rerender }, keep);
      if (!answered) return;
      const { value: saved } = answered;
      if (saved.kind === 'saved') return r.redirect(done);
      const declined = saved.kind === 'declined';
      const text = declined ? refusalText(r, saved) : t('payment.errors.notConfirmed');
      await render(r, deps, {
        status: declined ? 402 : 400,
        notice: { kind: 'error', text, duration: 'never' },
      });
    },
  };
}

/** The invoice that the bank asks about, and the addresses of its page. */
interface PaymentAction {
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
  r: UserRequest,
  { membership, stripe }: CardPageDeps,
  { amountCents, back, ...question }: PaymentAction,
): Promise<void> {
  const { currency } = membership.catalogue;
  const paymentMethodId = (await membership.getMembership(r.user.id))?.card?.paymentMethodId;
  r.render(
    CardActionPage,
    {
      stripe: stripeInPage(stripe, r, membership.catalogue.currency),
      backHref: back,
      amount: formatAmount(r.lang, amountCents, { currency }),
      paymentMethodId,
      ...question,
    },
    { title: 'payment.bank.title', address: back, policy: stripePolicy(stripe) },
  );
}
