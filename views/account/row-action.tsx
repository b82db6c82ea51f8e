import type { ComponentProps, ReactNode } from 'react';
import { AccountLayout } from '../layout/account-layout.tsx';
import type { PageContext } from '../page-context.ts';
import { ButtonLink } from '../parts/button.tsx';
import { Card } from '../parts/card.tsx';
import { DialogCard } from '../parts/dialog-card.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { Notice } from '../parts/notice.tsx';
import { PageNotice, type PageNoticeProps } from '../parts/page-notice.tsx';

/** The place of a list: its actions return there. */
interface RowListPaths {
  href: string;
  /** Of the list's page. */
  heading: string;
}

interface RowListProps {
  ctx: PageContext;
  heading: string;
  /** The notice about the last action. */
  notice?: PageNoticeProps | undefined;
  /** Above the rows. */
  lead: ReactNode;
  empty: ComponentProps<typeof EmptyState>;
  rows: readonly ReactNode[];
  /** A card behind the list. */
  after?: ReactNode;
  /** Before the link back. */
  add?: ReactNode;
}

/** A list of the settings: what belongs to the user, each row with links to change it. */
export function RowListPage({ ctx, heading, notice, lead, empty, rows, after, add }: RowListProps) {
  return (
    <AccountLayout ctx={ctx} at="security" below={heading} heading={heading}>
      <PageNotice ctx={ctx} notice={notice} />
      <Card flush>
        <div className="card-head">{lead}</div>
        {rows.length === 0 ? <EmptyState {...empty} /> : <ul className="items">{rows}</ul>}
      </Card>
      {after}
      <div className="actions main-first">
        {add}
        <ButtonLink kind="link" href="/settings?tab=sign-in">
          {ctx.t('passkeys.back')}
        </ButtonLink>
      </div>
    </AccountLayout>
  );
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
    <AccountLayout ctx={ctx} at="security" below={place.heading} heading={place.heading} action>
      <DialogCard
        id={id}
        title={title}
        {...(lead !== undefined && { lead })}
        closeHref={place.href}
        closeLabel={ctx.t('common.close')}
        level="h2"
        unsent={ctx.t('common.notSent')}
      >
        {problem !== undefined && <Notice kind="error">{problem}</Notice>}
        {children}
      </DialogCard>
    </AccountLayout>
  );
}

export function RowActions({ ctx, href, children }: { ctx: PageContext; href: string; children: ReactNode }) {
  return (
    <div className="actions even">
      <a className="button quiet" href={href} data-close="">
        {ctx.t('settings.cancel')}
      </a>
      {children}
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
