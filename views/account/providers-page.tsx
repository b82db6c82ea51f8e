import { formatDate } from '../format.ts';
import type { PageContext } from '../page-context.ts';
import { Card } from '../parts/card.tsx';
import { Chip } from '../parts/chip.tsx';
import { DialogLink } from '../parts/dialog.tsx';
import type { PageNoticeProps } from '../parts/page-notice.tsx';
import { ProviderMark, type ProviderMarkProps } from '../parts/provider-mark.tsx';
import { RowListPage } from './row-action.tsx';

export const providersHref = '/settings/providers';

interface ProviderView extends ProviderMarkProps {
  name: string;
}

/** Times in milliseconds since the epoch. */
export interface LinkedProviderView extends ProviderView {
  id: string;
  /** The provider's latest address. */
  email: string | null;
  linkedAt: number;
  /** null: linked, but never used for a sign-in. */
  lastUsedAt: number | null;
  /** False if the provider is no longer configured: it cannot sign in. */
  offered: boolean;
}

interface ProvidersPageProps {
  ctx: PageContext;
  links: readonly LinkedProviderView[];
  /** Those that the user has not linked. */
  others: readonly (ProviderView & { id: string })[];
  /** Names of linked providers at which a logout here also ends the session. */
  endsAt: readonly string[];
  /** The notice about the last action, or its failure. */
  notice?: PageNoticeProps | undefined;
}

/** A user's linked accounts, and the providers that can be linked. */
export function ProvidersPage({ ctx, links, others, endsAt, notice }: ProvidersPageProps) {
  const { t, lang } = ctx;
  const names = new Intl.ListFormat(lang).format(endsAt);
  return (
    <RowListPage
      ctx={ctx}
      heading={t('federation.linked.title')}
      notice={notice}
      lead={
        <>
          <p className="muted">
            {t('federation.linked.lead')}{' '}
            {endsAt.length === 0
              ? t('federation.linked.signOut')
              : t('federation.linked.signOutThere', { providers: names })}
          </p>
          {links.length + others.length === 0 && <p>{t('federation.linked.unavailable')}</p>}
        </>
      }
      empty={{ title: t('federation.linked.empty'), text: t('federation.linked.emptyText') }}
      rows={links.map((link) => <LinkRow key={link.id} ctx={ctx} {...link} />)}
      after={
        others.length > 0 && (
          <Card flush title={t('federation.linked.offered')}>
            <ul className="items">
              {others.map(({ id, name, mark, logo }) => (
                <li key={id} className="provider-row">
                  <ListedMark name={name} mark={mark} logo={logo} />
                  <div className="item-words">
                    <p className="item-label">{name}</p>
                  </div>
                  <DialogLink
                    ctx={ctx}
                    href={`${providersHref}/link?${new URLSearchParams({ provider: id })}`}
                    label={t('federation.linked.link')}
                    context={name}
                    closeLabel={t('common.close')}
                  />
                </li>
              ))}
            </ul>
          </Card>
        )
      }
    />
  );
}

/** A company without a logo has its initial, so that all names have one indent. */
function ListedMark({ name, mark, logo }: ProviderMarkProps & { name: string }) {
  if (mark !== undefined || logo !== undefined) return <ProviderMark mark={mark} logo={logo} />;
  return (
    <span className="provider-initial" aria-hidden="true">
      {[...name][0]?.toUpperCase()}
    </span>
  );
}

function LinkRow({
  ctx,
  id,
  name,
  mark,
  logo,
  email,
  linkedAt,
  lastUsedAt,
  offered,
}: { ctx: PageContext } & LinkedProviderView) {
  const { t, lang } = ctx;
  const linked = formatDate(lang, linkedAt, 'short');
  return (
    <li className="passkey-row">
      <ListedMark name={name} mark={mark} logo={logo} />
      <div className="item-words">
        <p className="item-label">{name}</p>
        {email !== null && <p className="item-value passkey-name">{email}</p>}
        <p className="item-value">
          <span className="small">
            {lastUsedAt === null
              ? t('federation.linked.linkedOn', { linked })
              : t('federation.linked.linkedUsed', { linked, used: formatDate(lang, lastUsedAt, 'short') })}
          </span>{' '}
          {!offered && <Chip tone="warn">{t('federation.linked.notOffered')}</Chip>}
        </p>
      </div>
      <div className="actions">
        <DialogLink
          ctx={ctx}
          href={`${providersHref}/remove?${new URLSearchParams({ link: id })}`}
          label={t('federation.linked.remove')}
          context={email === null ? name : `${name} (${email})`}
          closeLabel={t('common.close')}
        />
      </div>
    </li>
  );
}
