import type { PageContext } from '../page-context.ts';
import { Button, ButtonLink } from '../parts/button.tsx';
import { CodeForm } from '../parts/code-form.tsx';
import { CopyButton } from '../parts/copy-button.tsx';
import { QrCode } from '../parts/qr-code.tsx';
import { ActButtons } from './account-action.tsx';
import { EndOthers } from './end-others.tsx';
import { MfaAct } from './mfa-page.tsx';

interface TotpRequestPageProps {
  ctx: PageContext;
  action: string;
  /** It replaces an existing authenticator app. */
  replaces: boolean;
  problem?: string | undefined;
}

/** First of three steps: request a secret. */
export function TotpRequestPage({ ctx, action, replaces, problem }: TotpRequestPageProps) {
  const { t } = ctx;
  return (
    <MfaAct
      ctx={ctx}
      id="totp"
      title={t('mfaSettings.totp.title')}
      step={0}
      problem={problem === undefined ? undefined : { text: problem }}
    >
      <p>{t('mfaSettings.totp.request')}</p>
      {replaces && <p className="muted">{t('mfaSettings.totp.replaces')}</p>}
      <form className="form" method="post" action={action}>
        <ActButtons ctx={ctx} submit={t('mfaSettings.totp.begin')} tab="mfa-data" />
      </form>
    </MfaAct>
  );
}

interface TotpScanPageProps {
  ctx: PageContext;
  /** Base32. */
  secret: string;
  uri: string;
  /** It replaces an existing authenticator app. */
  replaces: boolean;
  qr: { size: number; path: string };
  nextHref: string;
}

const splitSecret = (secret: string) => secret.match(/.{1,4}/g) ?? [];
const secretId = 'totp-secret';

/**
 * Second step: scan the QR code, or take the secret into the app by hand or by link. A phone cannot scan itself: on a
 * narrow page the link is first, and the code below it is for another device (client/enrolment.css).
 */
export function TotpScanPage({ ctx, secret, uri, replaces, qr, nextHref }: TotpScanPageProps) {
  const { t } = ctx;
  return (
    <MfaAct ctx={ctx} id="totp" title={t('mfaSettings.totp.scan')} lead={t('mfaSettings.totp.scanLead')} step={1}>
      {replaces && <p className="muted">{t('mfaSettings.totp.replaces')}</p>}
      <div className="totp-here">
        <a className="button primary block" href={uri}>
          {t('mfaSettings.totp.open')}
        </a>
        <p>{t('mfaSettings.totp.otherDevice')}</p>
      </div>
      <QrCode label={t('mfaSettings.totp.qr')} {...qr} />
      <div className="secret">
        <p className="small muted">{t('mfaSettings.totp.byHand')}</p>
        <div className="secret-row">
          {/* Only the stylesheet shows groups: a copy has no spaces. */}
          <code id={secretId} className="secret-text">
            {splitSecret(secret).map((group, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: groups may be the same, and never move
              <span key={index}>{group}</span>
            ))}
          </code>
          <CopyButton
            ctx={ctx}
            source={secretId}
            label={t('mfaSettings.totp.copy')}
            doneLabel={t('mfaSettings.totp.copied')}
          />
        </div>
        <p className="small totp-link">
          <a href={uri}>{t('mfaSettings.totp.open')}</a>
        </p>
      </div>
      <ActButtons
        ctx={ctx}
        submit={
          <ButtonLink href={nextHref} isStep>
            {t('mfaSettings.totp.next')}
          </ButtonLink>
        }
        tab="mfa-data"
      />
    </MfaAct>
  );
}

interface TotpActivatePageProps {
  ctx: PageContext;
  action: string;
  scanHref: string;
  /** Whether the checkbox about the other devices is ticked. */
  endOthers?: boolean | undefined;
  error?: string | undefined;
  hint?: string | undefined;
}

/** Third step: a code of the app activates it. */
export function TotpActivatePage({ ctx, action, scanHref, endOthers, error, hint }: TotpActivatePageProps) {
  const { t } = ctx;
  return (
    <MfaAct ctx={ctx} id="totp" title={t('mfaSettings.totp.enter')} lead={t('mfaSettings.totp.enterLead')} step={2}>
      <CodeForm
        ctx={ctx}
        action={action}
        label={t('mfaSettings.totp.label')}
        incomplete={t('codes.incomplete')}
        error={error}
        hint={hint}
        options={<EndOthers ctx={ctx} checked={endOthers} />}
      >
        <div className="actions even">
          <ButtonLink kind="quiet" href={scanHref} isStep>
            {t('mfaSettings.totp.showAgain')}
          </ButtonLink>
          <Button>{t('mfaSettings.totp.activate')}</Button>
        </div>
      </CodeForm>
    </MfaAct>
  );
}
