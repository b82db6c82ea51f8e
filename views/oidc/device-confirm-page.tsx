import { AuthLayout } from '../layout/auth-layout.tsx';
import type { PageContext } from '../page-context.ts';
import { Button } from '../parts/button.tsx';
import { DeviceCode } from '../parts/device-code.tsx';
import { HiddenFields } from '../parts/hidden-fields.tsx';
import { Notice } from '../parts/notice.tsx';
import { Script } from '../parts/script.tsx';
import { Pair } from './consent-page.tsx';

interface DeviceConfirmPageProps {
  ctx: PageContext;
  action: string;
  fields: Record<string, string>;
  clientId: string;
  clientName: string;
  clientLogo?: string | undefined;
  /** As on the device. */
  userCode: string;
  /** The user who would be signed in there; undefined: no user is signed in yet. */
  memberEmail?: string | undefined;
}

/**
 * Asks whether the user has the device at hand, with a warning about codes from other people (RFC 8628, section 5.4).
 */
export function DeviceConfirmPage(props: DeviceConfirmPageProps) {
  const { ctx, clientName, memberEmail } = props;
  const { t } = ctx;
  return (
    <AuthLayout ctx={ctx} long>
      <Script ctx={ctx} entry="busy" />
      <Pair ctx={ctx} clientId={props.clientId} clientName={clientName} clientLogo={props.clientLogo} />
      <div className="panel-head">
        <h1>{t('oauth.device.confirm.title', { clientName })}</h1>
        {memberEmail !== undefined && <p className="muted">{t('oauth.consent.signedInAs', { email: memberEmail })}</p>}
      </div>
      <div className="own-code">
        <p>{t('oauth.device.confirm.compare')}</p>
        <DeviceCode ctx={ctx} code={props.userCode} />
      </div>
      <Notice kind="info" title={t('oauth.device.confirm.warningTitle')}>
        {t('oauth.device.confirm.warning', { clientName })}
      </Notice>
      <form className="actions even" method="post" action={props.action}>
        <HiddenFields fields={props.fields} />
        <Button name="abort" value="yes" kind="quiet">
          {t('oauth.device.confirm.refuse')}
        </Button>
        <Button name="confirm" value="yes">
          {t('oauth.device.confirm.allow')}
        </Button>
      </form>
    </AuthLayout>
  );
}
