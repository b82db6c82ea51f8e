import { detailsForm } from '../../../server/billing/details/details-form.ts';
import { listCountries } from '../../../server/billing/details/details-view.ts';
import { toControls } from '../../../server/http/index.ts';
import { BillingDetailsPage } from '../../../views/account/billing-details-page.tsx';
import { CardActionPage, ChangeCardPage } from '../../../views/account/change-card-page.tsx';
import { CheckoutDetailsPage } from '../../../views/billing/checkout-details-page.tsx';
import { PaymentActionPage, PaymentPage, type PaymentPageProps } from '../../../views/billing/payment-page.tsx';
import { formatAmount } from '../../../views/format.ts';
import type { PageContext } from '../../../views/page-context.ts';
import { member, type Sample } from './context.ts';

const noTexts = {
  name: '',
  company: '',
  line1: '',
  line2: '',
  postalCode: '',
  city: '',
  state: '',
  country: '',
  vatId: '',
};

/** The stand-in's, where whoever shows a sample offers it. */
export const stripeInSamples = {
  stripeJsUrl: '/stripe.js',
  publishableKey: 'pk_test_sample',
  refusals: {},
};

/** The pages on which cards are entered, and on which banks ask, in the states that differ. */
export function paymentSamples(ctx: PageContext): Record<string, Sample> {
  const { t, lang } = ctx;
  const signedIn: PageContext = { member, ...ctx };
  const stripe = { ...stripeInSamples, locale: lang };
  const money = (cents: number) => formatAmount(lang, cents);
  const action = '/signup/addPayment';
  const card = { brand: 'amex', lastFour: '0005', expMonth: 4, expYear: 2031 };
  const quote: NonNullable<PaymentPageProps['quote']> = {
    plan: 'Starter',
    lines: [{ label: 'Growth', amount: money(500_000) }],
    total: { label: t('checkout.lines.due'), amount: money(500_000) },
    included: [{ label: t('checkout.lines.included', { tax: t('checkout.lines.tax') }), amount: money(79_832) }],
    note: [t('checkout.lines.renews', { date: '20 November 2027', amount: money(500_000) })],
    announced: { planId: '13', dueCents: '500000' },
    isTrial: false,
    due: money(500_000),
    order: t('checkout.pay', { amount: money(500_000) }),
  };
  const page = {
    ctx,
    steps: 'sign-up' as const,
    stripe,
    action,
    setupUrl: `${action}/setup`,
    backHref: '/signup/verifiedCode',
    retryFields: {},
    details: { view: { text: undefined, vatId: undefined }, href: '/signup/billingDetails' },
  };
  const form = {
    ctx,
    action: '/signup/billingDetails',
    controls: toControls(detailsForm),
    countries: listCountries(lang),
    values: { ...noTexts, name: 'Vera Lindqvist', company: 'Lindqvist GmbH', country: 'DE', vatId: 'DE12' },
    errors: {
      postalCode: t('settings.errors.empty'),
      vatId: t('payment.details.errors.vatId', { example: 'DE123456789' }),
    },
  };
  const detailsView = { text: 'Lindqvist GmbH, 10115 Berlin', vatId: t('payment.details.status.verified') };
  const declined = {
    kind: 'error' as const,
    duration: 'never' as const,
    text: 'Your card has insufficient funds.',
  };
  const away = { ...declined, title: t('checkout.unavailable.confirm'), text: t('checkout.unavailable.text') };
  const bank = {
    stripe,
    action,
    backHref: '/signup/verifiedCode',
    clientSecret: 'pi_sample_secret_sample',
    paymentMethodId: 'pm_sample',
    amount: money(500_000),
    retryFields: quote.announced,
  };
  const settings = { ctx: signedIn, stripe, backHref: '/settings', action: '/settings/membership/card' };
  return {
    payment: { page: <PaymentPage {...page} quote={quote} /> },
    'payment-details': {
      page: <PaymentPage {...page} details={{ view: detailsView, href: '/signup/billingDetails' }} quote={quote} />,
    },
    'checkout-details': { page: <CheckoutDetailsPage {...form} steps="sign-up" backHref="/signup/verifiedCode" /> },
    'billing-details': {
      page: (
        <BillingDetailsPage
          {...form}
          ctx={signedIn}
          action="/settings/membership/details"
          vatIdStatus={t('payment.details.status.pending')}
          problem={{ text: t('settings.TAB_USER_DATA_MESSAGE_EROR') }}
        />
      ),
    },
    'payment-later': { page: <PaymentPage {...page} steps="purchase" quote={{ ...quote, due: undefined }} /> },
    'payment-declined': {
      page: <PaymentPage {...page} steps="post-signup" quote={quote} card={card} notice={declined} />,
    },
    'payment-away': { page: <PaymentPage {...page} notice={away} /> },
    'payment-kept': { page: <PaymentPage {...page} notice={away} retryFields={{ act: 'save-card' }} /> },
    'payment-bank': {
      page: <PaymentActionPage {...bank} ctx={ctx} steps="sign-up" hostedInvoiceUrl="https://stripe.example/i" />,
    },
    'change-card': {
      page: <ChangeCardPage {...settings} setupUrl="/settings/membership/card/setup" card={card} notice={declined} />,
    },
    'add-card': { page: <ChangeCardPage {...settings} setupUrl="/settings/membership/card/setup" /> },
    'bank-question': {
      page: (
        <CardActionPage
          {...bank}
          {...settings}
          otherCardHref="/settings/membership/card"
          hostedInvoiceUrl={undefined}
        />
      ),
    },
  };
}
