import { AuthLayout } from '../layout/auth-layout.tsx';
import type { PageContext } from '../page-context.ts';
import { AppLogo } from '../parts/app-logo.tsx';
import { Avatar } from '../parts/avatar.tsx';
import { Button } from '../parts/button.tsx';
import { HiddenFields } from '../parts/hidden-fields.tsx';
import { Mark } from '../parts/mark.tsx';
import { Script } from '../parts/script.tsx';
import { ScopeList } from './scope-list.tsx';
import type { ScopeText } from './scope-texts.ts';

type ClientPage = 'website' | 'privacy' | 'terms';
const clientPageNames = ['website', 'privacy', 'terms'] as const satisfies readonly ClientPage[];

interface ConsentPageProps {
  ctx: PageContext;
  action: string;
  fields: Record<string, string>;
  clientId: string;
  clientName: string;
  clientLogo?: string;
  /** Host (or scheme) of the registered address to which the user returns. */
  clientHost: string;
  /** The app's own pages, as registered. */
  clientPages?: Partial<Record<ClientPage, string | undefined>>;
  /** The request continues on another device. */
  onDevice?: boolean;
  reason: 'third-party' | 'native' | 'prompt';
  scopes: ScopeText[];
  memberEmail: string;
  /** The sign-in of another user, which comes back to this question. */
  otherAccountHref?: string;
}

/** The user whose data the app would get, and the way to another account. */
function Account({ ctx: { t, member }, memberEmail, otherAccountHref }: ConsentPageProps) {
  return (
    <div className="consent-account">
      {member !== undefined && <Avatar member={member} />}
      <p className="small">
        <bdi>{t('oauth.consent.signedInAs', { email: memberEmail })}</bdi>
        {otherAccountHref !== undefined && (
          <>
            <br />
            <a href={otherAccountHref}>{t('dashboard.limited.otherAccount')}</a>
          </>
        )}
      </p>
    </div>
  );
}

/** The app's own pages, in a tab of their own, which cannot reach this one. */
function ClientPages({
  ctx: { t },
  clientName,
  clientPages = {},
}: Pick<ConsentPageProps, 'ctx' | 'clientName' | 'clientPages'>) {
  const links = clientPageNames.flatMap((name) => {
    const href = clientPages[name];
    return href === undefined ? [] : [{ name, href }];
  });
  if (links.length === 0) return null;
  return (
    <ul className="consent-pages small" aria-label={t('oauth.consent.pages.label', { clientName })}>
      {links.map(({ name, href }) => (
        <li key={name}>
          <a href={href} target="_blank" rel="noopener noreferrer">
            {t(`oauth.consent.pages.${name}`)}
            <span className="visually-hidden"> ({t('common.newTab')})</span>
          </a>
        </li>
      ))}
    </ul>
  );
}

/** The client's logo, or its first letter, next to Foyer's own sign. */
export function Pair(props: {
  ctx: PageContext;
  clientId: string;
  clientName: string;
  clientLogo?: string | undefined;
}) {
  const { ctx, clientId, clientName, clientLogo } = props;
  return (
    <div className="pair-apps" aria-hidden="true">
      {clientLogo !== undefined && <Script ctx={ctx} entry="pictures" />}
      <AppLogo ctx={ctx} clientId={clientId} name={clientName} logoUrl={clientLogo} size="large" />
      <span className="pair-link" />
      <span className="pair-own">
        <Mark />
      </span>
    </div>
  );
}

/** Asks the user for consent to the access of a client app (`security.md`, rule 5). */
export function ConsentPage(props: ConsentPageProps) {
  const { ctx, clientName, clientHost: host, reason, scopes } = props;
  const { t } = ctx;
  return (
    <AuthLayout ctx={ctx} long>
      <Script ctx={ctx} entry="busy" />
      <Pair ctx={ctx} clientId={props.clientId} clientName={clientName} clientLogo={props.clientLogo} />
      <div className="panel-head">
        <h1>{t('oauth.consent.title', { clientName })}</h1>
      </div>
      <Account {...props} />
      <div className="scopes">
        <h2>{t('oauth.consent.willSee', { clientName })}</h2>
        <ScopeList ctx={ctx} scopes={scopes} />
      </div>
      <p className="small muted">
        {t(`oauth.consent.reasons.${reason}`, { brand: ctx.brand.name })}{' '}
        {props.onDevice ? t('oauth.consent.onDevice') : t('oauth.consent.returnTo', { host })}{' '}
        {t('oauth.consent.removable')}
      </p>
      <ClientPages ctx={ctx} clientName={clientName} clientPages={props.clientPages} />
      <form className="actions even" method="post" action={props.action}>
        <HiddenFields fields={props.fields} />
        <Button name="decision" value="deny" kind="quiet">
          {t('oauth.consent.deny')}
        </Button>
        <Button name="decision" value="allow">
          {t('oauth.consent.allow')}
        </Button>
      </form>
    </AuthLayout>
  );
}
