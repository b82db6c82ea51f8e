import type { T } from '../../locales/index.ts';
import { formatDate } from '../format.ts';
import { ScopeList } from '../oidc/scope-list.tsx';
import { scopeTexts } from '../oidc/scope-texts.ts';
import type { PageContext } from '../page-context.ts';
import { AppLogo } from '../parts/app-logo.tsx';
import { Button } from '../parts/button.tsx';
import { DialogLink } from '../parts/dialog.tsx';
import { Script } from '../parts/script.tsx';
import { RowAction, RowActions, RowListPage } from './row-action.tsx';

export const connectedAppsPath = '/settings/apps';

/** Times in milliseconds since the epoch. */
interface ConnectedAppView {
  clientId: string;
  name: string;
  logoUrl?: string | undefined;
  /** The scopes of the consent; empty for the marketplace's own app, which needs no consent. */
  scopes: readonly string[];
  createdAt: number;
  lastUsedAt: number;
}

interface ConnectedAppsPageProps {
  ctx: PageContext;
  apps: readonly ConnectedAppView[];
  /** The app that has just been removed, with its name if it is still registered. */
  removed: { name: string | undefined } | undefined;
}

const removedText = (t: T, clientName: string | undefined) =>
  clientName === undefined ? t('oauth.connected.removed') : t('oauth.connected.removedApp', { clientName });

/** The client apps and devices with which a user is connected, each with a link to remove it. */
export function ConnectedAppsPage({ ctx, apps, removed }: ConnectedAppsPageProps) {
  const { t } = ctx;
  return (
    <RowListPage
      ctx={ctx}
      heading={t('oauth.connected.title')}
      notice={removed && { kind: 'success', text: removedText(t, removed.name) }}
      lead={
        <>
          <p className="muted">{t('oauth.connected.lead')}</p>
          {apps.some(({ logoUrl }) => logoUrl !== undefined) && <Script ctx={ctx} entry="pictures" />}
        </>
      }
      empty={{ title: t('oauth.connected.empty'), text: t('oauth.connected.emptyText') }}
      rows={apps.map((app) => <AppRow key={app.clientId} ctx={ctx} {...app} />)}
    />
  );
}

function AppRow(props: { ctx: PageContext } & ConnectedAppView) {
  const { ctx, clientId, name, logoUrl, scopes, createdAt, lastUsedAt } = props;
  const { t, lang } = ctx;
  return (
    <li className="passkey-row">
      <AppLogo ctx={ctx} clientId={clientId} name={name} logoUrl={logoUrl} />
      <div className="item-words">
        <p className="item-label">
          <bdi>{name}</bdi>
        </p>
        <p className="item-value small">
          {t('oauth.connected.dates', {
            since: formatDate(lang, createdAt, 'short'),
            used: formatDate(lang, lastUsedAt, 'short'),
          })}
        </p>
        {scopes.length === 0 ? (
          <p className="item-value">{t('oauth.connected.ownApp')}</p>
        ) : (
          <ScopeList ctx={ctx} scopes={scopeTexts(t, scopes)} short />
        )}
      </div>
      <div className="actions">
        <DialogLink
          ctx={ctx}
          href={`${connectedAppsPath}/remove?${new URLSearchParams({ client_id: clientId })}`}
          label={t('oauth.connected.remove')}
          context={name}
          closeLabel={t('common.close')}
        />
      </div>
    </li>
  );
}

interface RemoveAppPageProps {
  ctx: PageContext;
  action: string;
  clientName: string;
}

export function RemoveAppPage({ ctx, action, clientName }: RemoveAppPageProps) {
  const { t } = ctx;
  return (
    <RowAction
      ctx={ctx}
      place={{ href: connectedAppsPath, heading: t('oauth.connected.title') }}
      id="remove-app"
      title={t('oauth.connected.removing.title', { clientName })}
      lead={t('oauth.connected.removing.lead', { clientName })}
    >
      <form className="form" method="post" action={action}>
        <RowActions ctx={ctx} href={connectedAppsPath}>
          <Button kind="danger">{t('oauth.connected.removing.submit')}</Button>
        </RowActions>
      </form>
    </RowAction>
  );
}
