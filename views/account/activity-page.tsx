import type { TextKey } from '../../locales/index.ts';
import { formatDate } from '../format.ts';
import { AccountLayout } from '../layout/account-layout.tsx';
import type { PageContext } from '../page-context.ts';
import { ButtonLink } from '../parts/button.tsx';
import { Card } from '../parts/card.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { Icon } from '../parts/icon.tsx';
import { tabAddress } from './tabs.ts';

export const activityPath = '/settings/activity';

/** An event of the audit trail, as its member sees it. */
export interface ActivityView {
  id: string;
  text: TextKey;
  values?: Readonly<Record<string, string | number>> | undefined;
  /** The party that acted, if it is not the member. */
  by?: TextKey | undefined;
  client: string | null;
  /** Browser and operating system. */
  device: string | null;
  address: string | null;
  /** A refused attempt. */
  isRefused: boolean;
  /** Milliseconds since the epoch. */
  atMs: number;
}

interface ActivityPageProps {
  ctx: PageContext;
  events: readonly ActivityView[];
  /** The next page; undefined: there is none. */
  olderHref: string | undefined;
  isFirst: boolean;
}

/** A member's own events of the audit trail, the newest first. */
export function ActivityPage({ ctx, events, olderHref, isFirst }: ActivityPageProps) {
  const { t } = ctx;
  const title = t('devices.activity.title');
  return (
    <AccountLayout ctx={ctx} at="security" below={title} heading={title}>
      <Card flush>
        <div className="card-head">
          <p className="muted">{t('devices.activity.lead')}</p>
        </div>
        {events.length === 0 ? (
          <EmptyState title={t('devices.activity.empty')} text={t('devices.activity.emptyText')} />
        ) : (
          <ul className="items">
            {events.map((event) => (
              <ActivityRow key={event.id} ctx={ctx} {...event} />
            ))}
          </ul>
        )}
      </Card>
      <div className="actions main-first">
        {olderHref !== undefined && (
          <ButtonLink kind="quiet" href={olderHref}>
            {t('devices.activity.older')}
          </ButtonLink>
        )}
        {!isFirst && (
          <ButtonLink kind="quiet" href={activityPath}>
            {t('devices.activity.newest')}
          </ButtonLink>
        )}
        <ButtonLink kind="link" href={tabAddress('device-data')}>
          {t('devices.activity.back')}
        </ButtonLink>
      </div>
    </AccountLayout>
  );
}

function ActivityRow({
  ctx,
  text,
  values,
  by,
  client,
  device,
  address,
  isRefused,
  atMs,
}: { ctx: PageContext } & ActivityView) {
  const { t, lang } = ctx;
  const place = [device, address].filter((part) => part !== null);
  return (
    <li className="notification-row">
      <div className="item-words">
        <p className="item-label">
          {t(text, values)}
          {isRefused && <Icon name="alert" />}
        </p>
        <p className="item-value activity-facts small">
          <span>{formatDate(lang, atMs, 'dateTime')} UTC</span>{' '}
          {by !== undefined && <span>{t(by, { client: client ?? '' })}</span>}{' '}
          {place.length > 0 && (
            <span>
              {device !== null && <span className="unbroken">{device}</span>}
              {place.length > 1 && ', '}
              {address}
            </span>
          )}{' '}
          {by === undefined && client !== null && <span>{client}</span>}
        </p>
      </div>
    </li>
  );
}
