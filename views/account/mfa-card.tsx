import { Card } from '../parts/card.tsx';
import { Chip } from '../parts/chip.tsx';
import { DialogLink } from '../parts/dialog.tsx';
import { MfaForm, type MfaFormProps } from './mfa-form.tsx';

export type MfaCardProps = Omit<MfaFormProps, 'typed' | 'error'> & {
  /** The pages to replace the authenticator app, and to create recovery codes. */
  totpHref: string;
  codesHref: string;
};

/** With this few, the card suggests new ones. */
const fewCodes = 2;

/** The MFA card of the settings (the specification's section 2). */
export function MfaCard({ totpHref, codesHref, ...form }: MfaCardProps) {
  const { ctx, factors } = form;
  const { t } = ctx;
  const isOn = factors.preference !== 'none';
  const closeLabel = t('common.close');
  return (
    <Card id="mfa" title={t('mfaSettings.card.title')} note={t('mfaSettings.card.note')}>
      <MfaForm {...form} />
      {isOn && (
        <div className="actions mfa-ways">
          {factors.totp && (
            <DialogLink ctx={ctx} href={totpHref} label={t('mfaSettings.card.replace')} closeLabel={closeLabel} />
          )}
          <DialogLink ctx={ctx} href={codesHref} label={t('mfaSettings.card.codes')} closeLabel={closeLabel} once />
          <Chip tone={factors.recoveryCodesLeft > fewCodes ? 'plain' : 'warn'}>
            {t('mfaSettings.card.codesLeft', { count: factors.recoveryCodesLeft })}
          </Chip>
        </div>
      )}
    </Card>
  );
}
