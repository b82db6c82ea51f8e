import { AuthLayout } from '../layout/auth-layout.tsx';
import type { PageContext } from '../page-context.ts';
import { Button } from '../parts/button.tsx';
import { FieldFrame, fieldAttributes } from '../parts/field-frame.tsx';
import { HiddenFields } from '../parts/hidden-fields.tsx';
import { Notice } from '../parts/notice.tsx';
import { Script } from '../parts/script.tsx';
import { Stylesheet } from '../parts/stylesheet.tsx';
import { TickList } from '../parts/tick-list.tsx';

interface DeviceCodePageProps {
  ctx: PageContext;
  action: string;
  xsrf: string;
  /** The input, or the code in the address. */
  userCode: string;
  fault?: 'empty' | 'unknown' | 'expired' | 'used' | 'interrupted' | 'stale' | undefined;
}

/** As the device shows it, if it can be one. */
function toShownCode(userCode: string): string {
  const letters = userCode.toUpperCase().replaceAll(/[^A-Z]/g, '');
  return letters.length === 8 ? `${letters.slice(0, 4)}-${letters.slice(4)}` : userCode;
}

/** One field over eight cells and a dash (device.css): a paste may have the dash or not. */
function CodeField({
  ctx: { t },
  userCode,
  error,
}: Pick<DeviceCodePageProps, 'ctx' | 'userCode'> & { error: string | undefined }) {
  const name = 'user_code';
  const words = { label: t('oauth.device.enter.code'), hint: t('oauth.device.enter.hint'), error };
  return (
    <FieldFrame name={name} {...words}>
      <div className="framed device-frame">
        <input
          {...fieldAttributes(name, words)}
          className="device-input"
          defaultValue={toShownCode(userCode)}
          autoCapitalize="characters"
          autoComplete="off"
          enterKeyHint="go"
          spellCheck={false}
          maxLength={40}
          // biome-ignore lint/a11y/noAutofocus: the field is what the page is for
          autoFocus
        />
      </div>
    </FieldFrame>
  );
}

/** Asks for the code that a device without a browser shows (RFC 8628, section 3.3). */
export function DeviceCodePage({ ctx, action, xsrf, userCode, fault }: DeviceCodePageProps) {
  const { t } = ctx;
  const ofPage = fault === 'interrupted' || fault === 'stale';
  return (
    <AuthLayout ctx={ctx}>
      <Script ctx={ctx} entry="busy" />
      <Script ctx={ctx} entry="device-code" />
      <Stylesheet ctx={ctx} name="device" />
      <div className="panel-head">
        <h1>{t('oauth.device.enter.title')}</h1>
        <p className="muted">{t('oauth.device.enter.lead')}</p>
      </div>
      {ofPage && <Notice kind={fault === 'stale' ? 'info' : 'error'}>{t(`oauth.device.faults.${fault}`)}</Notice>}
      <form className="form" method="post" action={action}>
        <HiddenFields fields={{ xsrf }} />
        <CodeField
          ctx={ctx}
          userCode={userCode}
          error={ofPage || fault === undefined ? undefined : t(`oauth.device.faults.${fault}`)}
        />
        <Button block>{t('oauth.device.enter.submit')}</Button>
      </form>
      <section className="own-code">
        <h2>{t('oauth.device.enter.ownTitle')}</h2>
        <TickList items={[t('oauth.device.enter.here'), t('oauth.device.enter.sent'), t('oauth.device.enter.named')]} />
      </section>
    </AuthLayout>
  );
}
