import { AuthLayout } from '../layout/auth-layout.tsx';
import type { PageContext } from '../page-context.ts';
import { ButtonLink } from '../parts/button.tsx';
import { Notice } from '../parts/notice.tsx';

interface DeviceEndPageProps {
  ctx: PageContext;
  end: 'done' | 'refused';
  clientName?: string | undefined;
}

/** The result of a device's sign-in; the device shows the next step. */
export function DeviceEndPage({ ctx, end, clientName }: DeviceEndPageProps) {
  const { t } = ctx;
  return (
    <AuthLayout ctx={ctx}>
      <div className="panel-head">
        <h1>{t(`oauth.device.${end}.title`)}</h1>
      </div>
      {end === 'done' ? (
        <Notice kind="success">
          {clientName === undefined ? t('oauth.device.done.text') : t('oauth.device.done.textFor', { clientName })}
        </Notice>
      ) : (
        <Notice kind="info">{t('oauth.device.refused.text')}</Notice>
      )}
      <p className="muted">{t(`oauth.device.${end}.next`)}</p>
      <ButtonLink href={end === 'done' ? '/' : '/device'} kind="quiet" block>
        {t(`oauth.device.${end}.go`)}
      </ButtonLink>
    </AuthLayout>
  );
}
