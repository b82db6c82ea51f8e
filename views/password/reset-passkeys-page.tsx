import { formatDate } from '../format.ts';
import { DoorLayout } from '../layout/door-layout.tsx';
import type { PageContext } from '../page-context.ts';
import { Button, ButtonLink } from '../parts/button.tsx';
import { Notice } from '../parts/notice.tsx';
import { Script } from '../parts/script.tsx';

export interface ResetPasskeysPageProps {
  ctx: PageContext;
  action: string;
  signInHref: string;
  /** Added lately; times in milliseconds since the epoch. */
  passkeys: readonly { id: string; name: string; createdAt: number }[];
}

/** After a new password: passkeys that were added lately may be a stranger's. */
export function ResetPasskeysPage({ ctx, action, signInHref, passkeys }: ResetPasskeysPageProps) {
  const { t, lang } = ctx;
  return (
    <DoorLayout ctx={ctx} nav="signIn">
      <Script ctx={ctx} entry="busy" />
      <Notice kind="success">{t('passkeys.afterReset.done')}</Notice>
      <div className="panel-head">
        <h1>{t('passkeys.afterReset.title')}</h1>
        <p className="muted">{t('passkeys.afterReset.lead')}</p>
      </div>
      <ul className="card flush items">
        {passkeys.map(({ id, name, createdAt }) => (
          <li key={id}>
            <div className="item-words">
              <p className="item-label passkey-name">{name}</p>
              <p className="small muted">{t('passkeys.added', { added: formatDate(lang, createdAt, 'short') })}</p>
            </div>
          </li>
        ))}
      </ul>
      <form className="form" method="post" action={action}>
        <ButtonLink href={signInHref} block>
          {t('passkeys.afterReset.keep')}
        </ButtonLink>
        <Button kind="quiet" block>
          {t('passkeys.afterReset.remove')}
        </Button>
      </form>
    </DoorLayout>
  );
}
