import type { PageContext } from '../page-context.ts';
import { Card } from '../parts/card.tsx';
import { type Item, ItemList } from '../parts/item-list.tsx';

export interface SignInCardProps {
  ctx: PageContext;
  hasPassword: boolean;
  /** Undefined if passkeys are unsupported. */
  passkeys?: { count: number; href: string } | undefined;
  /** Linked accounts, by their providers' names; undefined if there are none, and none can be linked. */
  linked?: { names: readonly string[]; href: string } | undefined;
  /** Connected client apps and devices. */
  apps: { count: number; href: string };
  /** Undefined without a second factor, because they would have no use. */
  recoveryCodes?: { left: number; href: string } | undefined;
}

/** A user's sign-in methods, and the recovery if one is lost. */
export function SignInCard({ ctx, hasPassword, passkeys, linked, apps, recoveryCodes }: SignInCardProps) {
  const { t, lang } = ctx;
  const label = { passkeys: t('passkeys.card.passkeysLabel'), codes: t('passkeys.card.recoveryCodes') };
  const items: Item[] = [
    {
      label: t('passkeys.card.password'),
      value: t(hasPassword ? 'passkeys.card.passwordSet' : 'passkeys.card.passwordNone'),
    },
  ];
  if (passkeys) {
    const { count, href } = passkeys;
    items.push({
      label: label.passkeys,
      value: count === 0 ? t('passkeys.card.passkeysNone') : t('passkeys.card.passkeys', { count }),
      action: { href, label: t('passkeys.card.manage'), context: label.passkeys },
    });
  }
  if (linked) {
    const { names, href } = linked;
    const title = t('federation.linked.title');
    items.push({
      label: title,
      value:
        names.length === 0 ? t('federation.linked.none') : new Intl.ListFormat(lang, { type: 'unit' }).format(names),
      action: { href, label: t('passkeys.card.manage'), context: title },
    });
  }
  if (recoveryCodes) {
    const { left, href } = recoveryCodes;
    items.push({
      label: label.codes,
      value: left === 0 ? t('passkeys.card.codesNone') : t('passkeys.card.codes', { count: left }),
      action: { href, label: t('passkeys.card.manage'), context: label.codes },
    });
  }
  const connected = t('oauth.connected.title');
  items.push({
    label: connected,
    value: apps.count === 0 ? t('oauth.connected.cardNone') : t('oauth.connected.card', { count: apps.count }),
    action: { href: apps.href, label: t('passkeys.card.manage'), context: connected },
  });
  return (
    <Card flush title={t('passkeys.card.title')} note={t('passkeys.card.note')}>
      <ItemList items={items} />
    </Card>
  );
}
