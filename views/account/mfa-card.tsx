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
  const [app, codes] = [t('mfaSettings.card.totp'), t('mfaSettings.card.codes')];
  const closeLabel = t('common.close');
  return (
    <Card id="mfa" title={t('mfaSettings.card.title')} note={t('mfaSettings.card.note')}>
      <MfaForm {...form} />
      {isOn && (
        <ul className="mfa-ways">
          {factors.totp && (
            <li>
              <p className="item-label">{app}</p>
              <DialogLink
                ctx={ctx}
                href={totpHref}
                label={t('mfaSettings.card.replace')}
                context={app}
                closeLabel={closeLabel}
              />
            </li>
          )}
          <li>
            <p>
              <span className="item-label">{codes}</span>{' '}
              <Chip tone={factors.recoveryCodesLeft > fewCodes ? 'plain' : 'warn'}>
                {t('mfaSettings.card.left', { count: factors.recoveryCodesLeft })}
              </Chip>
            </p>
            <DialogLink
              ctx={ctx}
              href={codesHref}
              label={t('settings.contact.manage')}
              context={codes}
              closeLabel={closeLabel}
              once
            />
          </li>
        </ul>
      )}
    </Card>
  );
}
