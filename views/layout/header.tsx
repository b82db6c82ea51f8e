import type { PageContext } from '../page-context.ts';
import { Button } from '../parts/button.tsx';
import { Brand } from '../parts/mark.tsx';

/** The member's initials in a circle. The name beside it is the accessible one. */
export function Avatar({ member }: { member: NonNullable<PageContext['member']> }) {
  return (
    <span className="avatar" aria-hidden="true">
      {member.initials}
    </span>
  );
}

/** Brand, and for a signed-in member who it is and Logout, which is a form: signing out is an act, not a link. */
export function Header({ ctx, signOutAction = '/logout' }: { ctx: PageContext; signOutAction?: string }) {
  const { t, member } = ctx;
  return (
    <header className="header">
      <Brand brand={ctx.brand} />
      {member !== undefined && (
        <div className="header-member">
          <Avatar member={member} />
          <span className="header-name">
            <span className="visually-hidden">{t('common.header.signedInAs', { name: '' })}</span>
            {member.name}
          </span>
          <form method="post" action={signOutAction}>
            <Button kind="quiet" size="small">
              {t('common.header.logout')}
            </Button>
          </form>
        </div>
      )}
    </header>
  );
}
