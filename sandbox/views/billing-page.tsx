import type { ReactNode } from 'react';
import { cardName } from '../../views/billing/card-name.ts';
import { formatAmount, formatDate } from '../../views/format.ts';
import { PlainLayout } from '../../views/layout/plain-layout.tsx';
import type { PageContext } from '../../views/page-context.ts';
import { Button, ButtonLink } from '../../views/parts/button.tsx';
import { Card } from '../../views/parts/card.tsx';
import { Chip } from '../../views/parts/chip.tsx';
import { EmptyState } from '../../views/parts/empty-state.tsx';
import { Notice } from '../../views/parts/notice.tsx';
import { Table } from '../../views/parts/table.tsx';
import type { Overview } from '../stripe/index.ts';
import { textsFor } from '../texts.ts';

type BillingCustomer = Overview['customers'][number];

interface BillingPageProps {
  ctx: PageContext;
  /** Of this page, the target of its forms. */
  address: string;
  /** undefined: the stand-in does not answer. */
  state: Overview | undefined;
  /** The reason that the last action failed, from the stand-in. */
  fault?: string | undefined;
}

const dayMs = 24 * 60 * 60_000;
const steps = ['1', '3', '7', '30', '365'] as const;

/** Stripe's test numbers (docs.stripe.com/testing), and their results. */
const testCards = [
  ['4242 4242 4242 4242', 'works'],
  ['5555 5555 5555 4444', 'works'],
  ['3782 822463 10005', 'works'],
  ['4000 0025 0000 3155', 'asksOnce'],
  ['4000 0027 6000 3184', 'asksAlways'],
  ['4000 0082 6000 3178', 'asksThenPoor'],
  ['4000 0000 0000 0341', 'failsLater'],
  ['4000 0000 0000 0002', 'declined'],
  ['4000 0000 0000 9995', 'poor'],
  ['4000 0000 0000 0069', 'expired'],
  ['4000 0000 0000 0127', 'wrongCvc'],
  ['DE89 3704 0044 0532 0130 00', 'works'],
  ['DE62 3704 0044 0532 0130 01', 'failsLater'],
] as const;

function Clock({
  ctx,
  address,
  nowMs,
  movedMs,
}: {
  ctx: PageContext;
  address: string;
  nowMs: number;
  movedMs: number;
}) {
  const t = textsFor(ctx);
  const { lang } = ctx;
  const days = Math.round(movedMs / dayMs);
  return (
    <Card title={t('sandbox.billingPage.clock')} note={t('sandbox.billingPage.clockNote')}>
      <p>
        <time dateTime={new Date(nowMs).toISOString()}>{formatDate(lang, nowMs, 'exact')}</time>
        {days > 0 && ` (${t('sandbox.billingPage.moved', { count: days })})`}
      </p>
      <form method="post" action={address} className="further steps">
        {steps.map((step) => (
          <Button key={step} kind="quiet" size="small" name="advance" value={step}>
            {t('sandbox.billingPage.forward', { count: Number(step) })}
          </Button>
        ))}
      </form>
    </Card>
  );
}

/** Numbers and codes to enter, each with its result: below it on a phone. */
function Entries({ entries }: { entries: readonly (readonly [entry: string, result: ReactNode])[] }) {
  return (
    <ul className="items entries">
      {entries.map(([entry, result]) => (
        <li key={entry}>
          <code>{entry}</code>
          <span className="muted">{result}</span>
        </li>
      ))}
    </ul>
  );
}

function Cards({ ctx }: { ctx: PageContext }) {
  const t = textsFor(ctx);
  return (
    <Card title={t('sandbox.billingPage.testCards')} note={t('sandbox.billingPage.testCardsNote')} flush>
      <Entries entries={testCards.map(([number, what]) => [number, t(`sandbox.billingPage.cards.${what}`)])} />
    </Card>
  );
}

function PromotionCodes({ ctx, codes }: { ctx: PageContext; codes: Overview['promotionCodes'] }) {
  const t = textsFor(ctx);
  const toResult = ({ name, valid }: (typeof codes)[number]) => (
    <>
      {name} {!valid && <Chip tone="plain">{t('sandbox.billingPage.invalid')}</Chip>}
    </>
  );
  return (
    <Card title={t('sandbox.billingPage.codes')} flush>
      <Entries entries={codes.map((code) => [code.code, toResult(code)])} />
    </Card>
  );
}

function Invoices({ ctx, address, of }: { ctx: PageContext; address: string; of: BillingCustomer }) {
  const t = textsFor(ctx);
  const { lang } = ctx;
  type Invoice = BillingCustomer['invoices'][number];
  const columns = [
    {
      key: 'number',
      label: t('sandbox.billingPage.invoice'),
      cell: ({ address: href, number, id }: Invoice) =>
        href === null ? (
          (number ?? id)
        ) : (
          <span className="further">
            <a href={href}>{number ?? id}</a>
          </span>
        ),
    },
    {
      key: 'date',
      label: t('sandbox.billingPage.date'),
      cell: ({ atMs }: Invoice) => formatDate(lang, atMs, 'short'),
    },
    {
      key: 'status',
      label: t('sandbox.billingPage.status'),
      cell: ({ status }: Invoice) => <Chip tone="plain">{status}</Chip>,
    },
    {
      key: 'amount',
      label: t('sandbox.billingPage.amount'),
      numeric: true,
      cell: ({ cents, currency }: Invoice) => formatAmount(lang, cents, { currency }),
    },
  ];
  const refund = {
    key: 'act',
    label: t('sandbox.billingPage.act'),
    cell: ({ id, number, refundable }: Invoice) =>
      refundable ? (
        <form method="post" action={address}>
          <Button kind="quiet" size="small" name="refund" value={id}>
            {t('sandbox.billingPage.refund')}
            <span className="visually-hidden"> {number ?? id}</span>
          </Button>
        </form>
      ) : null,
  };
  return (
    <Table
      caption={`${t('sandbox.billingPage.invoices')}: ${of.email ?? of.id}`}
      columns={of.invoices.some(({ refundable }) => refundable) ? [...columns, refund] : columns}
      rows={of.invoices}
      rowKey={({ id }) => id}
      empty={null}
    />
  );
}

function Customer({ ctx, address, customer }: { ctx: PageContext; address: string; customer: BillingCustomer }) {
  const t = textsFor(ctx);
  const { lang } = ctx;
  return (
    <Card title={customer.email ?? customer.id} note={customer.id} flush>
      <ul className="items messages">
        {customer.subscriptions.map(({ id, price, cents, currency, status, untilMs, endsThen }) => (
          <li key={id}>
            <div className="item-words">
              <p className="item-label">{price}</p>
              <p className="item-value">
                {formatAmount(lang, cents, { currency })} <Chip tone="plain">{status}</Chip>{' '}
                {t(endsThen ? 'sandbox.billingPage.ends' : 'sandbox.billingPage.until', {
                  date: formatDate(lang, untilMs, 'dateTime'),
                })}
              </p>
            </div>
          </li>
        ))}
        {customer.methods.map(({ id, brand, last4, isDebit }) => (
          <li key={id}>
            <div className="item-words">
              <p className="item-label">{cardName(t, { brand, lastFour: last4 })}</p>
            </div>
            <form method="post" action={address} className="further">
              <Button kind="quiet" size="small" name={isDebit ? 'failDebit' : 'fail'} value={id}>
                {t('sandbox.billingPage.fail')}
                <span className="visually-hidden"> {last4}</span>
              </Button>
              <Button kind="quiet" size="small" name={isDebit ? 'mendDebit' : 'mend'} value={id}>
                {t('sandbox.billingPage.mend')}
                <span className="visually-hidden"> {last4}</span>
              </Button>
            </form>
          </li>
        ))}
      </ul>
      <Invoices ctx={ctx} address={address} of={customer} />
    </Card>
  );
}

/** The objects of the stand-in for Stripe, and actions that Stripe does not offer: advancing time. */
export function BillingPage({ ctx, address, state, fault }: BillingPageProps) {
  const t = textsFor(ctx);
  const { brand } = ctx;
  return (
    <PlainLayout ctx={ctx} shape="wide">
      <div className="page-head">
        <h1>{t('sandbox.billingPage.title')}</h1>
        <p className="lead muted">{t('sandbox.billingPage.lead', { brand: brand.name })}</p>
      </div>
      {fault !== undefined && (
        <Notice kind="error" title={t('sandbox.billingPage.notDone')}>
          {fault}
        </Notice>
      )}
      {state === undefined ? (
        <EmptyState
          title={t('sandbox.billingPage.unavailable')}
          text={t('sandbox.billingPage.unavailableText')}
          action={<ButtonLink href={address}>{t('sandbox.billingPage.reload')}</ButtonLink>}
        />
      ) : (
        <>
          <Clock ctx={ctx} address={address} nowMs={state.nowMs} movedMs={state.movedMs} />
          {state.customers.length === 0 ? (
            <EmptyState title={t('sandbox.billingPage.empty')} text={t('sandbox.billingPage.emptyText')} />
          ) : (
            state.customers.map((customer) => (
              <Customer key={customer.id} ctx={ctx} address={address} customer={customer} />
            ))
          )}
        </>
      )}
      <Cards ctx={ctx} />
      {state !== undefined && state.promotionCodes.length > 0 && (
        <PromotionCodes ctx={ctx} codes={state.promotionCodes} />
      )}
    </PlainLayout>
  );
}
