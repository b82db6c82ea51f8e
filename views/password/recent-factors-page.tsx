import { formatDate } from '../format.ts';
import { AuthLayout } from '../layout/auth-layout.tsx';
import type { PageContext } from '../page-context.ts';
import { Button, ButtonLink } from '../parts/button.tsx';
import { Notice } from '../parts/notice.tsx';
import { Script } from '../parts/script.tsx';

interface SignInMethodView {
  id: string;
  /** The user's name for it. */
  name: string;
  /** Milliseconds since the epoch. */
  createdAt: number;
}

interface RecentFactorsPageProps {
  ctx: PageContext;
  action: string;
  signInHref: string;
  /** Recently added. */
  passkeys: readonly SignInMethodView[];
  /** Recently linked accounts. */
  links: readonly SignInMethodView[];
}

/** After a new password: recently added methods that sign in without it may be a stranger's. */
export function RecentFactorsPage({ ctx, action, signInHref, passkeys, links }: RecentFactorsPageProps) {
  const { t, lang } = ctx;
  const moduleName = links.length === 0 ? 'passkeys.afterReset' : 'federation.linked.afterReset';
  return (
    <AuthLayout ctx={ctx} nav="signIn">
      <Script ctx={ctx} entry="busy" />
      <Notice kind="success">{t('passkeys.afterReset.done')}</Notice>
      <div className="panel-head">
        <h1>{t(`${moduleName}.title`)}</h1>
        <p className="muted">{t(`${moduleName}.lead`)}</p>
      </div>
      <ul className="card flush items">
        {[...passkeys, ...links].map(({ id, name, createdAt }) => (
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
          {t(`${moduleName}.keep`)}
        </ButtonLink>
        <Button kind="quiet" block>
          {t(`${moduleName}.remove`)}
        </Button>
      </form>
    </AuthLayout>
  );
}
