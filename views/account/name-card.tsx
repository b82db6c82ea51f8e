import { formatDate } from '../format.ts';
import type { PageContext, PageUser } from '../page-context.ts';
import { Avatar } from '../parts/avatar.tsx';
import { Icon } from '../parts/icon.tsx';
import { EditLink } from './edit-link.tsx';
import { Facts } from './facts.tsx';

interface NameCardProps {
  ctx: PageContext;
  avatar: Pick<PageUser, 'initials' | 'pictureUrl'>;
  pictureHref?: string | undefined;
  givenName: string;
  familyName: string;
  /** Creation of the account. */
  sinceMs: number;
}

/** The user: First Name and Last Name to read, Edit to change them. */
export function NameCard({ ctx, avatar, pictureHref, givenName, familyName, sinceMs }: NameCardProps) {
  const { t, lang } = ctx;
  return (
    <section className="card name-card">
      {pictureHref === undefined ? (
        <Avatar member={avatar} size="large" />
      ) : (
        <a className="avatar-link" href={pictureHref}>
          <Avatar member={avatar} size="large" />
          <Icon name="pencil" />
          <span className="visually-hidden">{t('settings.picture.title')}</span>
        </a>
      )}
      <div className="name-words">
        <Facts
          facts={[
            { label: t('settings.name.givenName'), value: givenName || '–' },
            { label: t('settings.name.familyName'), value: familyName || '–' },
          ]}
        />
        <p className="muted small">{t('settings.name.since', { date: formatDate(lang, sinceMs, 'month') })}</p>
      </div>
      <EditLink ctx={ctx} href="/settings/name" what={t('settings.name.what')} />
    </section>
  );
}
