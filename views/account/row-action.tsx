import type { ReactNode } from 'react';
import { AccountLayout } from '../layout/account-layout.tsx';
import type { PageContext } from '../page-context.ts';
import { ButtonLink } from '../parts/button.tsx';
import { DialogCard } from '../parts/dialog-card.tsx';
import { Notice } from '../parts/notice.tsx';

/** The place of a list: its actions return there. */
export interface RowListPaths {
  href: string;
  /** Of the list's page. */
  heading: string;
}

export interface ListActProps {
  ctx: PageContext;
  place: RowListPaths;
  /** Of the card, unique on its page. */
  id: string;
  title: string;
  lead?: string;
  problem?: string | undefined;
  children: ReactNode;
}

/** One action on a list of the settings: a page of its own, whose card the list shows in a dialog. */
export function RowAction({ ctx, place, id, title, lead, problem, children }: ListActProps) {
  return (
    <AccountLayout ctx={ctx} at="security" heading={place.heading}>
      <DialogCard
        id={id}
        title={title}
        {...(lead !== undefined && { lead })}
        closeHref={place.href}
        closeLabel={ctx.t('common.close')}
        level="h2"
      >
        {problem !== undefined && <Notice kind="error">{problem}</Notice>}
        {children}
      </DialogCard>
    </AccountLayout>
  );
}

export function RowActions({ ctx, href, children }: { ctx: PageContext; href: string; children: ReactNode }) {
  return (
    <div className="actions">
      {children}
      <a className="button quiet" href={href} data-close="">
        {ctx.t('settings.cancel')}
      </a>
    </div>
  );
}

/** Replaces the button that would remove the last sign-in method, with advice. */
export function LastSignInMethodNotice({ ctx, href }: { ctx: PageContext; href: string }) {
  const { t } = ctx;
  return (
    <>
      <Notice kind="info">{t('federation.linked.lastWay')}</Notice>
      <RowActions ctx={ctx} href={href}>
        <ButtonLink href="/settings/password">{t('signIn.reauthenticate.setPassword')}</ButtonLink>
      </RowActions>
    </>
  );
}
