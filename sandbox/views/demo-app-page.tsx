import { formatDate } from '../../views/format.ts';
import type { PageContext } from '../../views/page-context.ts';
import { Button, ButtonLink } from '../../views/parts/button.tsx';
import { Card } from '../../views/parts/card.tsx';
import { Icon } from '../../views/parts/icon.tsx';
import { Notice } from '../../views/parts/notice.tsx';
import { textsFor } from '../texts.ts';
import { ClaimList } from './claim-list.tsx';

interface SignedIn {
  kind: 'signed-in';
  idToken: Record<string, unknown>;
  userinfo: Record<string, unknown>;
  /** `expiresAt` in milliseconds since the epoch. */
  accessToken: { maskedValue: string; expiresAt: number };
  refreshToken?: { maskedValue: string };
  refreshAction: string;
  signOutAction: string;
  error?: string;
}

export interface DemoAppPageProps {
  ctx: PageContext;
  state: { kind: 'signed-out'; signInHref: string; error?: string } | SignedIn;
}

function SignedOutView({ ctx, signInHref }: { ctx: PageContext; signInHref: string }) {
  const t = textsFor(ctx);
  const brand = ctx.brand.name;
  return (
    <>
      <div className="hero">
        <h1>{t('sandbox.demo.title', { brand })}</h1>
        <p className="lead muted">{t('sandbox.demo.lead', { brand })}</p>
        <ButtonLink href={signInHref}>
          {t('sandbox.demo.signIn', { brand })}
          <Icon name="arrow" />
        </ButtonLink>
      </div>
      <section>
        <h2>{t('sandbox.demo.stepsTitle')}</h2>
        <ol className="steps">
          <li>{t('sandbox.demo.steps.ask', { brand })}</li>
          <li>{t('sandbox.demo.steps.sign')}</li>
          <li>{t('sandbox.demo.steps.redeem')}</li>
        </ol>
      </section>
      <p>
        <a href="/television">{t('sandbox.television.link')}</a>
      </p>
    </>
  );
}

function Tokens({ ctx, state }: { ctx: PageContext; state: SignedIn }) {
  const t = textsFor(ctx);
  return (
    <Card title={t('sandbox.demo.tokens')}>
      <dl className="claims">
        <div>
          <dt>{t('sandbox.demo.accessToken')}</dt>
          <dd>
            <code>{state.accessToken.maskedValue}</code>
            <span className="muted small">
              {t('sandbox.demo.expiresAt', { time: formatDate(ctx.lang, state.accessToken.expiresAt, 'exact') })}
            </span>
          </dd>
        </div>
        <div>
          <dt>{t('sandbox.demo.refreshToken')}</dt>
          <dd>
            {state.refreshToken !== undefined && <code>{state.refreshToken.maskedValue}</code>}
            <span className="muted small">
              {t(state.refreshToken === undefined ? 'sandbox.demo.noRefreshToken' : 'sandbox.demo.rotates')}
            </span>
          </dd>
        </div>
      </dl>
      {state.refreshToken !== undefined && (
        <form method="post" action={state.refreshAction}>
          <Button kind="quiet">{t('sandbox.demo.refresh')}</Button>
        </form>
      )}
    </Card>
  );
}

function SignedInView({ ctx, state }: { ctx: PageContext; state: SignedIn }) {
  const t = textsFor(ctx);
  const { name, email, sub } = { ...state.idToken, ...state.userinfo };
  const who = [name, email, sub].find((claim) => typeof claim === 'string' && claim !== '');
  return (
    <>
      <div className="hero">
        <h1>{t('sandbox.demo.signedInTitle', { name: String(who ?? '') })}</h1>
        <p className="lead muted">{t('sandbox.demo.signedInLead', { brand: ctx.brand.name })}</p>
        <form method="post" action={state.signOutAction}>
          <Button>{t('sandbox.demo.signOut')}</Button>
        </form>
      </div>
      <div className="cards">
        <Card title={t('sandbox.demo.idToken')} note={t('sandbox.demo.idTokenNote')}>
          <ClaimList claims={state.idToken} />
        </Card>
        <Card title={t('sandbox.demo.userinfo')}>
          <ClaimList claims={state.userinfo} />
        </Card>
        <Tokens ctx={ctx} state={state} />
      </div>
    </>
  );
}

/** The demo client app: another site, another colour, no password field. */
export function DemoAppPage({ ctx, state }: DemoAppPageProps) {
  return (
    <div className="frame plain demo">
      {ctx.banner?.top}
      <header className="header">
        <a className="brand" href="/">
          <span className="demo-sign" aria-hidden="true" />
          <span>{textsFor(ctx)('sandbox.demo.name')}</span>
        </a>
      </header>
      <main className="content wide">
        {state.error !== undefined && (
          <Notice kind="error" title={textsFor(ctx)('sandbox.demo.failed')}>
            {/* As the protocol says it, for developers. */}
            <code lang="en">{state.error}</code>
          </Notice>
        )}
        {state.kind === 'signed-out' ? (
          <SignedOutView ctx={ctx} signInHref={state.signInHref} />
        ) : (
          <SignedInView ctx={ctx} state={state} />
        )}
      </main>
    </div>
  );
}
