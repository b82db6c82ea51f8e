import { Card } from '../parts/card.tsx';
import { Chip } from '../parts/chip.tsx';
import { DialogLink } from '../parts/dialog.tsx';
import { MfaForm, type MfaFormProps } from './mfa-form.tsx';

export type MfaCardProps = Omit<MfaFormProps, 'typed' | 'error'> & {
  /** Where the authenticator app is replaced, and where recovery codes are made. */
  totpHref: string;
  codesHref: string;
};

/** The MFA card of the settings (the specification's section 2). */
export function MfaCard({ totpHref, codesHref, ...form }: MfaCardProps) {
  const { ctx, factors } = form;
  const { t } = ctx;
  const isOn = factors.preference !== 'none';
  const closeLabel = t('mfaSettings.close');
  return (
    <Card id="mfa" title={t('mfaSettings.card.title')} note={t('mfaSettings.card.note')}>
      <p className="chips">
        <Chip tone={isOn ? 'ok' : 'plain'}>{t(isOn ? 'mfaSettings.card.on' : 'mfaSettings.card.off')}</Chip>
        {isOn && (
          <Chip tone={factors.recoveryCodesLeft > 2 ? 'plain' : 'warn'}>
            {t('mfaSettings.card.codesLeft', { count: factors.recoveryCodesLeft })}
          </Chip>
        )}
      </p>
      <MfaForm {...form} />
      {isOn && (
        <div className="actions">
          {factors.totp && (
            <DialogLink ctx={ctx} href={totpHref} label={t('mfaSettings.card.replace')} closeLabel={closeLabel} />
          )}
          <DialogLink ctx={ctx} href={codesHref} label={t('mfaSettings.card.codes')} closeLabel={closeLabel} />
        </div>
      )}
    </Card>
  );
}
