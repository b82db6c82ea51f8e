import type { DetailsView } from '../billing/billing-details-fields.tsx';
import { cardExpiry, cardName, expires } from '../billing/card-name.ts';
import { formatDate } from '../format.ts';
import type { PageContext } from '../page-context.ts';
import { ButtonLink } from '../parts/button.tsx';
import { Card } from '../parts/card.tsx';
import { Chip } from '../parts/chip.tsx';
import { ItemList } from '../parts/item-list.tsx';
import { type Column, Table } from '../parts/table.tsx';
import type { InvoiceRow, MembershipView } from './membership-view.ts';
import { membershipPath } from './tabs.ts';

interface CardCardProps {
  ctx: PageContext;
  card: MembershipView['card'];
  canChange: boolean;
}

/** The charged card, and the link to another. */
export function CardCard({ ctx, card, canChange }: CardCardProps) {
  const { t } = ctx;
  const expiry = card && cardExpiry(card);
  const isCard = !card || expires(card);
  const change = t(isCard ? 'membership.act.changeCard' : 'membership.act.changeMethod');
  const label = card ? cardName(t, card) : t('membership.card.none');
  return (
    <Card flush id="card" title={t(isCard ? 'membership.card.title' : 'membership.card.method')}>
      <ItemList
        items={[
          {
            label,
            value: expiry === undefined ? undefined : t('membership.card.valid', { date: expiry }),
            ...(card?.expired && { chip: <Chip tone="warn">{t('membership.card.expired')}</Chip> }),
            ...(canChange && {
              action: {
                href: `${membershipPath}/card`,
                label: card ? change : t('membership.act.addCard'),
                context: card ? label : '',
              },
            }),
          },
        ]}
      />
    </Card>
  );
}

/** The name and address on invoices, and the link to their form. */
export function DetailsCard({ ctx, details }: { ctx: PageContext; details: DetailsView }) {
  const { t } = ctx;
  const { text, vatId } = details;
  const action = {
    href: `${membershipPath}/details`,
    label: t(text === undefined ? 'payment.details.add' : 'payment.details.edit'),
    context: t('payment.details.title'),
  };
  return (
    <Card flush id="billing-details" title={t('payment.details.title')}>
      <ItemList items={[{ label: text ?? t('payment.details.none'), value: vatId, action }]} />
    </Card>
  );
}

/** In one cell: the main text, and notes below it. */
function Lines({ first, others, unbroken }: { first: string; others: readonly string[]; unbroken?: boolean }) {
  return (
    <span className={unbroken ? 'unbroken' : undefined}>
      {first}
      {others.map((other) => (
        <span key={other} className="muted small">
          <br />
          {other}
        </span>
      ))}
    </span>
  );
}

const tones = {
  open: 'warn',
  failed: 'danger',
  paid: 'ok',
  void: 'plain',
  uncollectible: 'danger',
  refunded: 'plain',
  partlyRefunded: 'plain',
} as const;

/** Every payment, with Stripe's own page and document of its invoice. */
export function InvoicesCard({ ctx, invoices }: { ctx: PageContext; invoices: readonly InvoiceRow[] }) {
  const { t, lang } = ctx;
  const link = (href: string | null, label: string, { number }: InvoiceRow) =>
    href !== null && (
      <ButtonLink href={href} kind="link" size="small">
        {label}
        <span className="visually-hidden"> {number === null ? '' : t('membership.invoices.of', { number })}</span>
      </ButtonLink>
    );
  const columns: Column<InvoiceRow>[] = [
    {
      key: 'date',
      label: t('membership.invoices.date'),
      cell: ({ at, number }) => (
        <Lines first={formatDate(lang, at, 'short')} others={number === null ? [] : [number]} unbroken />
      ),
    },
    {
      key: 'what',
      label: t('membership.invoices.what'),
      cell: ({ plan, kind, begins }) => (
        <Lines
          first={plan ?? '–'}
          others={[kind && t(`membership.invoices.${kind}`), begins].filter((line) => line !== undefined)}
        />
      ),
    },
    {
      key: 'amount',
      label: t('membership.invoices.amount'),
      numeric: true,
      cell: ({ amount, notes }) => <Lines first={amount} others={notes} />,
    },
    {
      key: 'status',
      label: t('membership.invoices.status'),
      cell: ({ state }) => <Chip tone={tones[state]}>{t(`membership.invoices.states.${state}`)}</Chip>,
    },
    {
      key: 'documents',
      label: t('membership.invoices.documents'),
      cell: (row) => (
        <span>
          <span className="unbroken">
            {link(row.url, t('membership.invoices.view'), row)}
            {row.url !== null && row.pdfUrl !== null && ' · '}
            {link(row.pdfUrl, t('membership.invoices.pdf'), row)}
          </span>
          {row.creditNotes.map(({ number, amount, pdfUrl }) => (
            <span key={number}>
              <br />
              <ButtonLink href={pdfUrl} kind="link" size="small">
                {t('membership.invoices.creditNote')}
                <span className="visually-hidden">{` ${number}, ${amount}`}</span>
              </ButtonLink>
            </span>
          ))}
        </span>
      ),
    },
  ];
  const title = t('membership.invoices.title');
  return (
    <Card flush id="invoices" title={title} note={t('membership.invoices.note')}>
      {invoices.length === 0 ? (
        <ItemList items={[{ label: t('membership.invoices.none'), value: undefined }]} />
      ) : (
        <Table caption={title} columns={columns} rows={invoices} rowKey={({ id }) => id} />
      )}
    </Card>
  );
}
