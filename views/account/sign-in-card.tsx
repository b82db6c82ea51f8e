import { formatDate } from '../format.ts';
import type { PageContext } from '../page-context.ts';
import { Card } from '../parts/card.tsx';
import { Chip } from '../parts/chip.tsx';
import { type Item, ItemList } from '../parts/item-list.tsx';
import { EditLink } from './edit-link.tsx';

interface SignInCardProps {
  ctx: PageContext;
  email: string;
  emailVerified: boolean;
  phone: string | null;
  phoneVerified: boolean;
  /** Undefined: none, the user signs in with a provider or a passkey. Its last change is null if it is unknown. */
  password?: { changedAtMs: number | null } | undefined;
  /** Undefined if passkeys are unsupported. */
  passkeys?: { count: number; href: string } | undefined;
  /** Linked accounts, by their providers' names; undefined if there are none, and none can be linked. */
  linked?: { names: readonly string[]; href: string } | undefined;
}

function contactItems({ ctx, email, emailVerified, phone, phoneVerified }: SignInCardProps): Item[] {
  const { t } = ctx;
  const chip = (verified: boolean) => (
    <Chip tone={verified ? 'ok' : 'warn'}>
      {t(verified ? 'settings.contact.verified' : 'settings.contact.unverified')}
    </Chip>
  );
  const [emailLabel, phoneLabel] = [t('settings.contact.email'), t('settings.contact.phone')];
  return [
    {
      label: emailLabel,
      value: <bdi>{email}</bdi>,
      chip: chip(emailVerified),
      act: <EditLink ctx={ctx} href="/settings/email" what={emailLabel} />,
    },
    {
      label: phoneLabel,
      value: phone === null ? t('settings.contact.noPhone') : <bdi>{phone}</bdi>,
      ...(phone !== null && { chip: chip(phoneVerified) }),
      act: <EditLink ctx={ctx} href="/settings/phone" what={phoneLabel} />,
    },
  ];
}

function passwordItem({ ctx, password }: SignInCardProps): Item {
  const { t, lang } = ctx;
  const label = t('settings.contact.password');
  const own = { ctx, href: '/settings/password', what: label };
  if (!password) {
    return {
      label,
      value: t('settings.contact.noPassword'),
      act: <EditLink {...own} label={t('settings.contact.setPassword')} />,
    };
  }
  const { changedAtMs } = password;
  return {
    label,
    value:
      changedAtMs === null
        ? t('settings.contact.encrypted')
        : t('settings.contact.encryptedSince', { date: formatDate(lang, changedAtMs) }),
    act: <EditLink {...own} />,
  };
}

/** Sign-in information: Email Address, Phone Number, Password, passkeys and linked accounts, each once. */
export function SignInCard(props: SignInCardProps) {
  const { ctx, passkeys, linked } = props;
  const { t, lang } = ctx;
  const items = [...contactItems(props), passwordItem(props)];
  const manage = t('settings.contact.manage');
  if (passkeys) {
    const { count, href } = passkeys;
    const label = t('passkeys.title');
    items.push({
      label,
      value: count === 0 ? t('passkeys.card.passkeysNone') : t('passkeys.card.passkeys', { count }),
      action: { href, label: count === 0 ? t('settings.contact.add') : manage, context: label },
    });
  }
  if (linked) {
    const { names, href } = linked;
    const label = t('federation.linked.title');
    items.push({
      label,
      value:
        names.length === 0 ? t('federation.linked.none') : new Intl.ListFormat(lang, { type: 'unit' }).format(names),
      action: { href, label: manage, context: label },
    });
  }
  return (
    <Card flush>
      <ItemList items={items} />
    </Card>
  );
}

/** Connected client apps and devices. */
export function ConnectedAppsCard({ ctx, count, href }: { ctx: PageContext; count: number; href: string }) {
  const { t } = ctx;
  const label = t('oauth.connected.title');
  return (
    <Card flush>
      <ItemList
        items={[
          {
            label,
            value: count === 0 ? t('oauth.connected.cardNone') : t('oauth.connected.card', { count }),
            action: { href, label: t('settings.contact.manage'), context: label },
          },
        ]}
      />
    </Card>
  );
}
