import { formatAmount, formatDate } from '../../../views/format.ts';
import type { PageContext } from '../../../views/page-context.ts';
import { AppTile } from '../../../views/parts/app-tile.tsx';
import { Avatar } from '../../../views/parts/avatar.tsx';
import { ButtonLink } from '../../../views/parts/button.tsx';
import { Card } from '../../../views/parts/card.tsx';
import { Chip } from '../../../views/parts/chip.tsx';
import { EmptyState } from '../../../views/parts/empty-state.tsx';
import { ItemList } from '../../../views/parts/item-list.tsx';
import { SummaryList } from '../../../views/parts/summary-list.tsx';
import { Table } from '../../../views/parts/table.tsx';
import { textsFor } from '../../texts.ts';

/** 20 November 2027, noon. */
const renewsAt = Date.UTC(2027, 10, 20, 12);
const dayMs = 86_400_000;
const avatar = { initials: 'VL' };

function Rows({ ctx }: { ctx: PageContext }) {
  const t = textsFor(ctx);
  const { lang } = ctx;
  const edit = (context: string) => ({ href: '#edit', label: t('parts.content.edit'), context });
  const items = [
    {
      label: 'Vera Lindqvist',
      value: t('parts.content.since', { date: formatDate(lang, renewsAt - 1_300 * dayMs, 'month') }),
      before: <Avatar member={avatar} size="large" />,
      action: edit(t('parts.content.name')),
    },
    {
      label: t('parts.content.email'),
      value: 'vera.lindqvist@example.com',
      chip: <Chip tone="ok">{t('parts.content.verified')}</Chip>,
      action: edit(t('parts.content.email')),
    },
    {
      label: t('parts.content.phone'),
      value: '+31 6 •• •• •• 42',
      chip: <Chip tone="warn">{t('parts.content.unverified')}</Chip>,
      action: edit(t('parts.content.phone')),
    },
  ];
  return (
    <Card title={t('parts.content.cardTitle')} note={t('parts.content.cardNote')} flush>
      <ItemList items={items} />
    </Card>
  );
}

function Devices({ ctx }: { ctx: PageContext }) {
  const t = textsFor(ctx);
  const { lang } = ctx;
  const rows = [
    { name: 'Firefox, Linux', ip: '203.0.113.8', usedAt: renewsAt },
    { name: 'Safari, iPhone', ip: '198.51.100.41', usedAt: renewsAt - 3 * dayMs },
  ];
  return (
    <Card title={t('parts.content.devices')} flush>
      <Table
        caption={t('parts.content.devices')}
        rows={rows}
        rowKey={(row) => row.name}
        columns={[
          { key: 'name', label: t('parts.content.device'), cell: (row) => row.name },
          { key: 'ip', label: t('parts.content.ip'), cell: (row) => <code>{row.ip}</code> },
          {
            key: 'used',
            label: t('parts.content.used'),
            cell: (row) => formatDate(lang, row.usedAt, 'dateTime'),
            numeric: true,
          },
        ]}
      />
    </Card>
  );
}

function Tiles({ ctx }: { ctx: PageContext }) {
  const t = textsFor(ctx);
  const open = t('parts.content.open');
  return (
    <ul className="app-tiles">
      <AppTile
        ctx={ctx}
        name="Showcase Pages"
        clientId="showcase-pages"
        subtitle="showcase.example"
        logoUrl={ctx.assets.icon}
        href="#showcase"
        open={open}
      />
      <AppTile
        ctx={ctx}
        name="Orchard Analytics"
        clientId="orchard"
        subtitle="orchard.example"
        href="#orchard"
        open={open}
      />
      <AppTile ctx={ctx} name={t('parts.content.noAddress')} clientId="batch-import" open={open} />
    </ul>
  );
}

function Order({ ctx }: { ctx: PageContext }) {
  const t = textsFor(ctx);
  const { lang } = ctx;
  const amount = (cents: number) => formatAmount(lang, cents);
  return (
    <SummaryList
      lines={[
        { label: t('parts.content.planLine'), amount: amount(500_000) },
        { label: t('parts.content.promo', { code: 'WELCOME20' }), amount: amount(-100_000), saves: true },
      ]}
      total={{ label: t('parts.content.due'), amount: amount(400_000) }}
      note={[t('parts.content.renews', { date: formatDate(lang, renewsAt), amount: amount(500_000) })]}
    />
  );
}

export function ContentParts({ ctx }: { ctx: PageContext }) {
  const t = textsFor(ctx);
  return (
    <>
      <section className="specimens">
        <h3>{t('parts.names.card')}</h3>
        <Rows ctx={ctx} />
        <Card
          title={t('parts.content.dangerTitle')}
          note={t('parts.content.dangerNote')}
          actions={
            <ButtonLink href="#close" kind="danger" size="small">
              {t('parts.buttons.danger')}
            </ButtonLink>
          }
        >
          <p>{t('parts.content.dangerText')}</p>
        </Card>
      </section>
      <section className="specimens">
        <h3>{t('parts.names.table')}</h3>
        <Devices ctx={ctx} />
        <Card>
          <Table
            caption={t('parts.content.orders')}
            columns={[]}
            rows={[]}
            rowKey={String}
            empty={
              <EmptyState
                title={t('parts.content.emptyTitle')}
                text={t('parts.content.emptyText')}
                action={
                  <ButtonLink href="#plans" kind="quiet" size="small">
                    {t('parts.content.emptyAction')}
                  </ButtonLink>
                }
              />
            }
          />
        </Card>
      </section>
      <section className="specimens">
        <h3>{t('parts.names.tiles')}</h3>
        <Tiles ctx={ctx} />
      </section>
      <section className="specimens">
        <h3>{t('parts.names.summary')}</h3>
        <Order ctx={ctx} />
      </section>
      <section className="specimens">
        <h3>{t('parts.names.avatar')}</h3>
        <div className="actions">
          <Avatar member={avatar} />
          <Avatar member={avatar} size="large" />
          <Avatar member={{ initials: 'VL', pictureUrl: ctx.assets.icon }} size="large" />
        </div>
        <div className="actions">
          {(['accent', 'plain', 'ok', 'warn', 'danger'] as const).map((tone) => (
            <Chip key={tone} tone={tone}>
              {t(`parts.chips.${tone}`)}
            </Chip>
          ))}
        </div>
      </section>
    </>
  );
}
