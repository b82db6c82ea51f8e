import { qrCode } from '../../../server/account/security/qr-code.ts';
import { MfaPage } from '../../../views/account/mfa-page.tsx';
import { MfaSmsCodePage } from '../../../views/account/mfa-sms-pages.tsx';
import { NewRecoveryCodesPage, RecoveryCodesPage } from '../../../views/account/recovery-codes-page.tsx';
import { TotpActivatePage, TotpRequestPage, TotpScanPage } from '../../../views/account/totp-pages.tsx';
import type { PageContext } from '../../../views/page-context.ts';
import type { Sample } from './context.ts';

/** The pages of the second factor in the settings, in the states that differ. */
export function mfaSettingsSamples(ctx: PageContext): Record<string, Sample> {
  const { t } = ctx;
  const secret = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP';
  const uri = `otpauth://totp/Foyer:vera%40example.com?secret=${secret}&issuer=Foyer`;
  const form = { ctx, action: '/settings/mfa', phoneHref: '/settings/phone' };
  const factors = { totp: false, smsOffered: true, recoveryCodesLeft: 0 };
  const activate = { ctx, action: '/settings/mfa/totp/activate', scanHref: '/settings/mfa/totp/scan' };
  return {
    mfa: { page: <MfaPage {...form} factors={{ ...factors, preference: 'none' }} /> },
    'mfa-due': { page: <MfaPage {...form} due factors={{ ...factors, preference: 'none', required: true }} /> },
    'mfa-refused': {
      page: (
        <MfaPage
          {...form}
          factors={{ ...factors, preference: 'sms', number: '+31…42', smsOffered: false, totp: true }}
          typed={{ enabled: true, method: 'pigeon', endOthers: false }}
          error={t('mfaSettings.card.choose')}
        />
      ),
    },
    totp: {
      page: <TotpRequestPage ctx={ctx} action="/settings/mfa/totp" replaces problem={t('mfaSettings.totp.expired')} />,
    },
    'totp-scan': {
      page: (
        <TotpScanPage
          ctx={ctx}
          secret={secret}
          uri={uri}
          replaces
          qr={qrCode(uri)}
          nextHref="/settings/mfa/totp/activate"
        />
      ),
    },
    'totp-activate': {
      page: <TotpActivatePage {...activate} error={t('codes.wrong')} hint={t('codes.clock')} />,
    },
    'mfa-sms-code': {
      page: (
        <MfaSmsCodePage
          ctx={ctx}
          action="/settings/mfa/sms/code"
          number="+31…42"
          minutes={10}
          resent={true}
          waitSeconds={12}
          problem={t('mfaSettings.sms.tooMany', { minutes: 4 })}
        />
      ),
    },
    'recovery-codes': { page: <RecoveryCodesPage ctx={ctx} action="/settings/recovery-codes" left={1} needed /> },
    'recovery-codes-new': {
      page: (
        <NewRecoveryCodesPage
          ctx={ctx}
          codes={['AAAA-BBBB-CCCC-DDDD', 'EEEE-FFFF-GGGG-HHHH']}
          file={'a\r\n"b"'}
          doneHref="/settings"
          done={t('mfaSettings.done.totp')}
        />
      ),
    },
  };
}
