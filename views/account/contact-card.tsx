import { formatDate } from '../format.ts';
import type { PageContext } from '../page-context.ts';
import { Card } from '../parts/card.tsx';
import { Chip } from '../parts/chip.tsx';
import { type Item, ItemList } from '../parts/item-list.tsx';
import { EditLink } from './edit-link.tsx';
import { panelAddress } from './tabs.ts';

export interface ContactCardProps {
  ctx: PageContext;
  email: string;
  emailVerified: boolean;
  phone: string | null;
  phoneVerified: boolean;
  hasPassword: boolean;
  mfaPreference: 'none' | 'sms' | 'totp';
  /** The accepted version; null if none was required. */
  terms: { label: string; acceptedAtMs: number | null } | null;
}

/** Sign-in information: Email Address, Phone Number, Password, the second factor, and the accepted terms. */
export function ContactCard({
  ctx,
  email,
  emailVerified,
  phone,
  phoneVerified,
  hasPassword,
  mfaPreference,
  terms,
}: ContactCardProps) {
  const { t, lang, links } = ctx;
  const chip = (verified: boolean) => (
    <Chip tone={verified ? 'ok' : 'warn'}>
      {t(verified ? 'settings.contact.verified' : 'settings.contact.unverified')}
    </Chip>
  );
  const edit = (href: string, what: string) => <EditLink ctx={ctx} href={href} what={what} />;
  const [emailLabel, phoneLabel] = [t('settings.contact.email'), t('settings.contact.phone')];
  const passwordLabel = t('settings.contact.password');
  const items: Item[] = [
    { label: emailLabel, value: email, chip: chip(emailVerified), act: edit('/settings/email', emailLabel) },
    {
      label: phoneLabel,
      value: phone ?? t('settings.contact.noPhone'),
      ...(phone !== null && { chip: chip(phoneVerified) }),
      act: edit('/settings/phone', phoneLabel),
    },
    {
      label: passwordLabel,
      value: t(hasPassword ? 'settings.contact.encrypted' : 'settings.contact.noPassword'),
      act: hasPassword ? (
        edit('/settings/password', passwordLabel)
      ) : (
        <EditLink ctx={ctx} href="/settings/password" what={passwordLabel} label={t('settings.contact.setPassword')} />
      ),
    },
  ];
  const [mfaLabel, isOn] = [t('mfaSettings.card.title'), mfaPreference !== 'none'];
  items.push({
    label: mfaLabel,
    value: isOn ? t(`mfaSettings.card.${mfaPreference}`) : t('settings.contact.mfaOff'),
    ...(isOn && { chip: <Chip tone="ok">{t('mfaSettings.card.inUse')}</Chip> }),
    action: {
      href: panelAddress('mfa-data'),
      label: t(isOn ? 'settings.contact.manage' : 'settings.contact.setUp'),
      context: mfaLabel,
    },
  });
  if (terms !== null) {
    const { label, acceptedAtMs } = terms;
    const name = t('settings.contact.terms');
    items.push({
      label: name,
      value:
        acceptedAtMs === null
          ? t('settings.contact.acceptedUndated', { label })
          : t('settings.contact.accepted', { label, date: formatDate(lang, acceptedAtMs) }),
      ...(links.terms !== undefined && {
        act: <EditLink ctx={ctx} href={links.terms} what={name} label={t('settings.read')} />,
      }),
    });
  }
  return (
    <Card flush>
      <ItemList items={items} />
    </Card>
  );
}
