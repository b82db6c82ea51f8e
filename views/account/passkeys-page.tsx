import { formatDate } from '../format.ts';
import type { PageContext } from '../page-context.ts';
import { ButtonLink } from '../parts/button.tsx';
import { Chip } from '../parts/chip.tsx';
import { DialogLink } from '../parts/dialog.tsx';
import { PasskeyMark } from '../parts/passkey-mark.tsx';
import { RowListPage } from './row-action.tsx';

/** Times in milliseconds since the epoch. */
interface PasskeyView {
  id: string;
  name: string;
  backedUp: boolean;
  createdAt: number;
  lastUsedAt: number | null;
}

interface PasskeysPageProps {
  ctx: PageContext;
  passkeys: readonly PasskeyView[];
  /** The maximum number. */
  max: number;
  /** False if browsers do not support passkeys at this address. */
  available: boolean;
  /** The notice about the last action. */
  notice?: string | undefined;
}

const toLastUse = ({ lastUsedAt, createdAt }: PasskeyView) => lastUsedAt ?? createdAt;

/** A user's passkeys, the last used first, each with links to change it. */
export function PasskeysPage({ ctx, passkeys, max, available, notice }: PasskeysPageProps) {
  const { t } = ctx;
  const isFull = passkeys.length >= max;
  const add = available && !isFull && <ButtonLink href="/settings/passkeys/add">{t('passkeys.add.action')}</ButtonLink>;
  return (
    <RowListPage
      ctx={ctx}
      heading={t('passkeys.title')}
      notice={notice === undefined ? undefined : { kind: 'success', text: notice }}
      lead={
        <>
          <p className="muted">{t('passkeys.lead')}</p>
          {!available && <p>{t('passkeys.unavailable')}</p>}
          {isFull && <p>{t('passkeys.full', { most: max })}</p>}
        </>
      }
      empty={{ title: t('passkeys.empty'), text: t('passkeys.emptyText'), action: add }}
      rows={[...passkeys]
        .sort((a, b) => toLastUse(b) - toLastUse(a))
        .map((passkey) => <PasskeyRow key={passkey.id} ctx={ctx} {...passkey} />)}
      add={passkeys.length > 0 && add}
    />
  );
}

function PasskeyRow({ ctx, id, name, backedUp, createdAt, lastUsedAt }: { ctx: PageContext } & PasskeyView) {
  const { t, lang } = ctx;
  const added = formatDate(lang, createdAt, 'short');
  const which = new URLSearchParams({ passkey: id });
  return (
    <li className="passkey-row">
      <PasskeyMark />
      <div className="item-words">
        <p className="item-label">
          <span className="passkey-name">{name}</span>{' '}
          <Chip tone="plain">{t(backedUp ? 'passkeys.synced' : 'passkeys.bound')}</Chip>
        </p>
        <p className="item-value small">
          {lastUsedAt === null
            ? t('passkeys.added', { added })
            : t('passkeys.addedUsed', { added, used: formatDate(lang, lastUsedAt, 'short') })}
        </p>
      </div>
      <div className="actions">
        {(['rename', 'remove'] as const).map((act) => (
          <DialogLink
            key={act}
            ctx={ctx}
            href={`/settings/passkeys/${act}?${which}`}
            label={t(`passkeys.${act}`)}
            context={name}
            closeLabel={t('common.close')}
          />
        ))}
      </div>
    </li>
  );
}
