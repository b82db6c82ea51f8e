import { AccountLayout } from '../layout/account-layout.tsx';
import type { PageContext } from '../page-context.ts';
import { Ago } from '../parts/ago.tsx';
import { Button, ButtonLink } from '../parts/button.tsx';
import { Card } from '../parts/card.tsx';
import { Chip } from '../parts/chip.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { HiddenFields } from '../parts/hidden-fields.tsx';
import { cardsInOrder, type HomeCard } from './home-card.tsx';

/** Times in milliseconds since the epoch. */
interface NotificationView {
  id: string;
  title: string;
  description: string;
  security: boolean;
  unread: boolean;
  createdAtMs: number;
}

interface NotificationsPageProps {
  ctx: PageContext;
  /** The target of the forms. */
  action: string;
  notifications: readonly NotificationView[];
  /** The next page; undefined: there is none. */
  olderHref: string | undefined;
  nowMs: number;
  /** The open decision of the user, whose notification is not in the list. */
  top: readonly HomeCard[];
}

/** The user's notifications: security changes first, then the newest. */
export function NotificationsPage(props: NotificationsPageProps) {
  const { ctx, action, notifications, olderHref, nowMs, top } = props;
  const { t, unread = 0 } = ctx;
  return (
    <AccountLayout ctx={ctx} at="notifications" heading={t('notifications.title')} before={cardsInOrder(ctx, top)}>
      <Card flush>
        <div className="card-head">
          <p className="muted">{t('notifications.lead')}</p>
          {unread > 0 && <ReadAll ctx={ctx} action={action} />}
        </div>
        {notifications.length === 0 ? (
          top.length === 0 && <EmptyState title={t('notifications.empty')} text={t('notifications.emptyText')} />
        ) : (
          <ul className="items">
            {notifications.map((one) => (
              <NotificationRow key={one.id} ctx={ctx} action={action} nowMs={nowMs} {...one} />
            ))}
          </ul>
        )}
      </Card>
      <div className="actions">
        {olderHref !== undefined && (
          <ButtonLink kind="link" href={olderHref}>
            {t('notifications.older')}
          </ButtonLink>
        )}
      </div>
    </AccountLayout>
  );
}

/**
 * Above the list, however long it is. It marks the notices above it, too, which the bell counts: a number here would
 * be another one.
 */
function ReadAll({ ctx: { t }, action }: { ctx: PageContext; action: string }) {
  return (
    <form className="read-all" method="post" action={action}>
      <HiddenFields fields={{ all: '1' }} />
      <Button kind="quiet" size="small">
        {t('notifications.readAll')}
      </Button>
    </form>
  );
}

function NotificationRow(props: { ctx: PageContext; action: string; nowMs: number } & NotificationView) {
  const { ctx, action, id, title, description, security, unread, createdAtMs, nowMs } = props;
  const { t } = ctx;
  return (
    <li className="notification-row">
      <div className="item-words">
        <p className="item-label">
          {title} {unread && <Chip tone="accent">{t('notifications.new')}</Chip>}{' '}
          {security && <Chip tone="warn">{t('notifications.security')}</Chip>}
        </p>
        <p className="notification-text">{description}</p>
        <div className="notification-foot">
          <p className="item-value small">
            <Ago ctx={ctx} timeMs={createdAtMs} nowMs={nowMs} isFirst />
          </p>
          {unread && (
            <form method="post" action={action}>
              <HiddenFields fields={{ notification: id }} />
              <Button kind="link" size="small">
                {t('notifications.read')}
                <span className="visually-hidden"> {title}</span>
              </Button>
            </form>
          )}
        </div>
      </div>
    </li>
  );
}
