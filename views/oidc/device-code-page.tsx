import { AuthLayout } from '../layout/auth-layout.tsx';
import type { PageContext } from '../page-context.ts';
import { Button } from '../parts/button.tsx';
import { Field } from '../parts/field.tsx';
import { HiddenFields } from '../parts/hidden-fields.tsx';
import { Notice } from '../parts/notice.tsx';
import { Script } from '../parts/script.tsx';

interface DeviceCodePageProps {
  ctx: PageContext;
  action: string;
  xsrf: string;
  /** The input, or the code in the address. */
  userCode: string;
  fault?: 'empty' | 'unknown' | 'expired' | 'used' | 'interrupted' | 'stale' | undefined;
}

/** Asks for the code that a device without a browser shows (RFC 8628, section 3.3). */
export function DeviceCodePage({ ctx, action, xsrf, userCode, fault }: DeviceCodePageProps) {
  const { t } = ctx;
  const ofPage = fault === 'interrupted' || fault === 'stale';
  return (
    <AuthLayout ctx={ctx}>
      <Script ctx={ctx} entry="busy" />
      <div className="panel-head">
        <h1>{t('oauth.device.enter.title')}</h1>
        <p className="muted">{t('oauth.device.enter.lead')}</p>
      </div>
      {ofPage && <Notice kind={fault === 'stale' ? 'info' : 'error'}>{t(`oauth.device.faults.${fault}`)}</Notice>}
      <form className="form" method="post" action={action}>
        <HiddenFields fields={{ xsrf }} />
        <Field
          name="user_code"
          label={t('oauth.device.enter.code')}
          hint={t('oauth.device.enter.hint')}
          error={fault === undefined || ofPage ? undefined : t(`oauth.device.faults.${fault}`)}
          defaultValue={userCode}
          autoCapitalize="characters"
          autoComplete="off"
          spellCheck={false}
          maxLength={40}
        />
        <Button block>{t('oauth.device.enter.submit')}</Button>
      </form>
    </AuthLayout>
  );
}
