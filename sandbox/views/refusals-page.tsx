import { formatDate } from '../../views/format.ts';
import { PlainLayout } from '../../views/layout/plain-layout.tsx';
import type { PageContext } from '../../views/page-context.ts';
import { ButtonLink } from '../../views/parts/button.tsx';
import { Card } from '../../views/parts/card.tsx';
import { EmptyState } from '../../views/parts/empty-state.tsx';
import type { StoredRefusal } from '../refusals.ts';
import { textsFor } from '../texts.ts';

interface RefusalsPageProps {
  ctx: PageContext;
  /** Newest first. */
  refusals: readonly StoredRefusal[];
  /** Only those of this client. */
  clientId?: string | undefined;
  /** Of this page. */
  address: string;
  /** Of the page of the JSON API. */
  apiHref: string;
}

function Line({ ctx, address, refusal }: { ctx: PageContext; address: string; refusal: StoredRefusal }) {
  const { clientId, endpoint, error, description, detail, atMs } = refusal;
  return (
    <li>
      <div className="item-words">
        <p className="item-label">
          <code>{error}</code>
        </p>
        {description !== undefined && <p lang="en">{description}</p>}
        {detail !== undefined && detail !== description && (
          <p className="small muted" lang="en">
            {detail}
          </p>
        )}
        <p className="item-value small">
          <a href={`${address}?${new URLSearchParams({ client: clientId })}`}>{clientId}</a>
          <code>{endpoint}</code>
          <time dateTime={new Date(atMs).toISOString()}>{formatDate(ctx.lang, atMs, 'exact')}</time>
        </p>
      </div>
    </li>
  );
}

/** The last refused requests of client apps, with the reasons that the log has. */
export function RefusalsPage({ ctx, refusals, clientId, address, apiHref }: RefusalsPageProps) {
  const t = textsFor(ctx);
  const reload = clientId === undefined ? address : `${address}?${new URLSearchParams({ client: clientId })}`;
  return (
    <PlainLayout ctx={ctx} shape="wide">
      <div className="page-head">
        <h1>{t('sandbox.refusalsPage.title')}</h1>
        <p className="lead muted">{t('sandbox.refusalsPage.lead', { brand: ctx.brand.name })}</p>
      </div>
      {refusals.length === 0 ? (
        <EmptyState
          title={
            clientId === undefined
              ? t('sandbox.refusalsPage.empty')
              : t('sandbox.refusalsPage.emptyFor', { client: clientId })
          }
          text={t('sandbox.refusalsPage.emptyText')}
          action={<ButtonLink href={reload}>{t('sandbox.mailboxPage.reload')}</ButtonLink>}
        />
      ) : (
        <Card flush>
          <ul className="items messages">
            {refusals.map((refusal) => (
              <Line key={refusal.id} ctx={ctx} address={address} refusal={refusal} />
            ))}
          </ul>
        </Card>
      )}
      <p className="small further">
        {refusals.length > 0 && <a href={reload}>{t('sandbox.mailboxPage.reload')}</a>}
        {clientId !== undefined && <a href={address}>{t('sandbox.mailboxPage.all')}</a>}
        <a href={apiHref}>{t('sandbox.api')}</a>
      </p>
    </PlainLayout>
  );
}
