import {
  CancelMembershipPage,
  PayUnpaidPage,
  ResumeMembershipPage,
} from '../../../views/account/cancel-membership-pages.tsx';
import { ChangeSeatsPage } from '../../../views/account/change-seats-page.tsx';
import { MembershipCard, UnpaidOnHome } from '../../../views/account/membership-card.tsx';
import { MembershipPage } from '../../../views/account/membership-page.tsx';
import type { InvoiceRow, MembershipView, PlanStatusView } from '../../../views/account/membership-view.ts';
import { PauseMembershipPage } from '../../../views/account/pause-membership-page.tsx';
import { formatAmount } from '../../../views/format.ts';
import { AccountLayout } from '../../../views/layout/account-layout.tsx';
import type { PageContext } from '../../../views/page-context.ts';
import { member, type Sample } from './context.ts';

const at = 1767225600000;
const pauseEnd = 1772323200000;
const nextCharge = { amount: '$99.00', more: '' };

/** The page of the membership, its acts, and what the home shows of it, in the states that differ. */
export function membershipSamples(ctx: PageContext): Record<string, Sample> {
  const { t, lang } = ctx;
  const signedIn: PageContext = { member, ...ctx };
  const money = (cents: number) => formatAmount(lang, cents);
  const plan = {
    name: 'Growth & <Co>',
    line: t('checkout.lines.annual', { name: 'Growth & <Co>' }),
    price: `${money(500_000)} ${t('checkout.perYear')}`,
    features: ['Profile', 'Search'],
  };
  const to = t('checkout.lines.monthly', { name: 'Starter' });
  const card = { brand: 'amex', lastFour: '0005', expMonth: 4, expYear: 2031, expired: true };
  const unpaid = {
    amount: money(9_900),
    nextAttemptAt: at,
    keptUntil: at,
    url: 'https://invoice.stripe.com/i/acct_1/live_7',
  };
  const invoice = (state: InvoiceRow['state'], more: Partial<InvoiceRow> = {}): InvoiceRow => ({
    id: `in_${state}`,
    at,
    number: `FOYER-${state}`,
    plan: plan.line,
    kind: 'renewal',
    amount: money(9_900),
    state,
    notes: [],
    creditNotes: [],
    url: unpaid.url,
    pdfUrl: `${unpaid.url}/pdf`,
    ...more,
  });
  const invoices = [
    invoice('open'),
    invoice('paid', {
      kind: 'upgrade',
      notes: [
        t('membership.invoices.off', { amount: money(990) }),
        t('membership.invoices.credit', { amount: money(1_000) }),
      ],
    }),
    invoice('refunded', {
      notes: [t('membership.invoices.refunded', { amount: money(9_900) }), t('membership.invoices.disputed')],
      creditNotes: [{ number: 'FOYER-0002-CN-01', amount: money(9_900), pdfUrl: `${unpaid.url}/pdf` }],
    }),
    invoice('void', { number: null, plan: undefined, kind: undefined, url: null, pdfUrl: null }),
    invoice('uncollectible'),
  ];
  const page = (status: PlanStatusView, more: Partial<MembershipView> = {}): MembershipView => ({
    status,
    sold: true,
    ...more,
  });
  const act = { ctx: signedIn, action: '/settings/membership/cancel', plan: plan.name };
  const sample = (shown: MembershipView, rows: readonly InvoiceRow[] = []): Sample => ({
    page: <MembershipPage ctx={signedIn} membership={shown} invoices={rows} stripeUnavailable={false} />,
  });
  return {
    membership: {
      page: (
        <MembershipPage
          ctx={signedIn}
          membership={page(
            { kind: 'renews', plan, at },
            {
              card,
              discount: t('membership.plan.off', { amount: '10 %', code: 'WELCOME10' }),
              pending: { plan: to, amount: money(9_900), href: '/plan-purchase/10' },
            },
          )}
          invoices={invoices}
          stripeUnavailable
          notice={{ text: t('membership.done.resumed') }}
        />
      ),
    },
    'membership-none': sample(page({ kind: 'none' })),
    'membership-trial': sample(page({ kind: 'trial', at }, { trial: { name: 'Basic', endsAt: at, days: 1 } })),
    'membership-trial-over': sample(page({ kind: 'trial-over' })),
    'membership-free': sample(page({ kind: 'lasting', plan, isFree: true })),
    'membership-partner': sample({ ...page({ kind: 'lasting', plan, isFree: false }), sold: false }),
    'membership-gift': sample(page({ kind: 'gift', plan, at }, { hasGifts: true })),
    'membership-ends': sample(page({ kind: 'ends', plan, at, after: 'Free' }, { card: { ...card, expired: false } })),
    'membership-tries': sample(
      page(
        { kind: 'tries', plan, at },
        { nextCharge: { amount: money(9_900), more: '' }, card: { ...card, expired: false } },
      ),
    ),
    'membership-changes': sample(page({ kind: 'changes', plan, at, to }, { nextCharge })),
    'membership-change-noted': sample(page({ kind: 'changes', plan, at, to }, { noted: 'change' })),
    'membership-deal-taken': sample(page({ kind: 'ends', plan, at, after: 'AppSumo Tier 2', isForDeal: true })),
    'membership-debit-refused': sample(
      page(
        { kind: 'trial', at },
        {
          trial: { name: 'Basic', endsAt: at, days: 7 },
          pending: { plan: to, amount: money(9_900), href: '/plan-purchase/10', debit: 'failed' },
        },
      ),
    ),
    'membership-by-seats': sample(page({ kind: 'renews', plan, at }, { hasSeats: true, card })),
    'membership-unpaid': {
      page: (
        <MembershipPage
          ctx={signedIn}
          membership={page({ kind: 'unpaid', plan, at }, { card, unpaid: { ...unpaid, why: 'failed' } })}
          invoices={[invoice('open')]}
          stripeUnavailable={false}
        />
      ),
    },
    'membership-unpaid-last': sample(
      page({ kind: 'unpaid', plan, at: null }, { unpaid: { ...unpaid, why: 'failed', nextAttemptAt: null } }),
    ),
    'membership-action': sample(page({ kind: 'unpaid', plan, at }, { unpaid: { ...unpaid, why: 'action-required' } })),
    'membership-on-home': {
      page: (
        <AccountLayout ctx={signedIn} at="security" heading={t('settings.title')}>
          <UnpaidOnHome ctx={signedIn} membership={page({ kind: 'none' }, { unpaid: { ...unpaid, why: 'failed' } })} />
          <MembershipCard ctx={signedIn} membership={page({ kind: 'changes', plan, at, to })} />
          <MembershipCard
            ctx={signedIn}
            membership={page({ kind: 'unpaid', plan, at }, { unpaid: { ...unpaid, why: 'action-required' } })}
          />
        </AccountLayout>
      ),
    },
    'membership-cancel': {
      page: <CancelMembershipPage {...act} until={at} atOnce={undefined} after="Free" />,
    },
    'membership-cancel-unpaid': {
      page: (
        <CancelMembershipPage
          {...act}
          until={null}
          atOnce="unpaid"
          to={to}
          problem={{ title: t('checkout.unavailable.confirm'), text: t('checkout.unavailable.text') }}
        />
      ),
    },
    'membership-cancel-paused': { page: <CancelMembershipPage {...act} until={null} atOnce="paused" /> },
    'membership-paused': sample(page({ kind: 'paused', plan, resumesAt: null }, { card })),
    'membership-pauses': sample(
      page({ kind: 'pauses', plan, at, resumesAt: pauseEnd, hasBegun: false }, { card, nextCharge }),
    ),
    'membership-paused-until': sample(page({ kind: 'paused', plan, resumesAt: pauseEnd }, { card, nextCharge })),
    'membership-pause': {
      page: (
        <PauseMembershipPage
          {...act}
          until={at}
          options={[1, 2, 3].map((months) => ({
            months,
            resumesAt: at + months * 31 * 24 * 60 * 60_000,
            amount: '$99.00',
            more: '',
          }))}
          fields={{ 'announced-1': '1' }}
        />
      ),
    },
    'membership-seats': {
      page: (
        <ChangeSeatsPage
          {...act}
          seats={5}
          range={{ min: 1, max: 50 }}
          price={`$99 ${t('checkout.seats.each', { per: t('checkout.perMonth') })}`}
          until={at}
        />
      ),
    },
    'membership-seats-refused': {
      page: (
        <ChangeSeatsPage
          {...act}
          seats={5}
          range={{ min: 1, max: 50 }}
          price="$99"
          until={at}
          typed="51"
          error={t('checkout.seats.outside', { min: 1, max: 50 })}
        />
      ),
    },
    'membership-take-back': {
      page: <ResumeMembershipPage {...act} at={at} pause="to-come" amount="$99.00" fields={{ laterCents: '9900' }} />,
    },
    'membership-resume-now': {
      page: <ResumeMembershipPage {...act} at={at} pause="begun" amount="$99.00" fields={{ laterCents: '9900' }} />,
    },
    'membership-cancel-pause': { page: <CancelMembershipPage {...act} until={null} atOnce="pause" /> },
    'membership-cancel-noted': sample(page({ kind: 'ends', plan, at }, { noted: 'cancel', card })),
    'membership-resume-noted': sample(page({ kind: 'renews', plan, at }, { noted: 'resume', card })),
    'membership-resume': { page: <ResumeMembershipPage {...act} at={at} fields={{ laterCents: '9900' }} /> },
    'membership-keep': { page: <ResumeMembershipPage {...act} at={at} fields={{ laterCents: '9900' }} to={to} /> },
    'membership-pay': {
      page: (
        <PayUnpaidPage
          {...act}
          amount={unpaid.amount}
          card={card}
          problem={{ title: t('membership.pay.declined'), text: 'Your card has insufficient funds.' }}
        />
      ),
    },
    'membership-pay-no-card': { page: <PayUnpaidPage {...act} amount={unpaid.amount} card={undefined} /> },
  };
}
