import { Card } from '../parts/card.tsx';
import { Chip } from '../parts/chip.tsx';
import { DialogLink } from '../parts/dialog.tsx';
import { ItemList } from '../parts/item-list.tsx';
import { MfaForm, type MfaFormProps, MfaState } from './mfa-form.tsx';

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
  const replace = (
    <DialogLink ctx={ctx} href={totpHref} label={t('mfaSettings.card.replace')} context={app} closeLabel={closeLabel} />
  );
  const manage = (
    <DialogLink
      ctx={ctx}
      href={codesHref}
      label={t('settings.contact.manage')}
      context={codes}
      closeLabel={closeLabel}
      once
    />
  );
  const left = t('mfaSettings.card.left', { count: factors.recoveryCodesLeft });
  return (
    <>
      <Card
        id="mfa"
        title={t('mfaSettings.card.title')}
        note={t('mfaSettings.card.note')}
        // A switch says it too.
        act={(isOn || factors.required) && <MfaState ctx={ctx} factors={factors} />}
      >
        <MfaForm {...form} />
      </Card>
      {isOn && (
        <Card flush>
          <ItemList
            items={[
              {
                label: codes,
                value: factors.recoveryCodesLeft > fewCodes ? left : <Chip tone="warn">{left}</Chip>,
                act: manage,
              },
              ...(factors.totp ? [{ label: app, value: t('mfaSettings.card.replaceNote'), act: replace }] : []),
            ]}
          />
        </Card>
      )}
    </>
  );
}
