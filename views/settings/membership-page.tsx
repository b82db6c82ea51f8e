import type { ReactElement } from 'react';
import { formatDate } from '../format.ts';
import { SettingsLayout } from '../layout/settings-layout.tsx';
import type { PageContext } from '../page-context.ts';
import { Notice } from '../parts/notice.tsx';
import { Script } from '../parts/script.tsx';
import { Snackbar } from '../parts/snackbar.tsx';
import { CardCard, InvoicesCard } from './membership-cards.tsx';
import { MembershipNotices } from './membership-notices.tsx';
import { PlanCard } from './membership-plan-card.tsx';
import type { InvoiceRow, MembershipShown } from './membership-shown.ts';
import { membershipPath } from './tabs.ts';

export interface MembershipPageProps {
  ctx: PageContext;
  shown: MembershipShown;
  invoices: readonly InvoiceRow[];
  /** Stripe does not answer: what is shown is what is stored. */
  away: boolean;
  /** What has just been done. */
  notice?: string | undefined;
  /** What went wrong with what was just done. */
  problem?: { title: string; text: string } | undefined;
}

/** A member's plan, card, invoices, and what is to be done about them. */
export function MembershipPage({ ctx, shown, invoices, away, notice, problem }: MembershipPageProps): ReactElement {
  const { t } = ctx;
  const before = (
    <>
      {problem && (
        <Notice kind="error" title={problem.title}>
          {problem.text}
        </Notice>
      )}
      {away && <Notice kind="info">{t('membership.away')}</Notice>}
      <MembershipNotices ctx={ctx} shown={shown} />
    </>
  );
  return (
    <SettingsLayout
      ctx={ctx}
      {...(ctx.links.membership === membershipPath
        ? { at: 'membership' }
        : { at: 'security', below: t('membership.title') })}
      heading={t('membership.title')}
      before={before}
    >
      <Script ctx={ctx} entry="busy" />
      <PlanCard ctx={ctx} shown={shown} />
      {(shown.sold || shown.card) && <CardCard ctx={ctx} card={shown.card} sold={shown.sold} />}
      <InvoicesCard ctx={ctx} invoices={invoices} />
      {notice !== undefined && !shown.noted && <Snackbar ctx={ctx} kind="success" text={notice} duration="profile" />}
    </SettingsLayout>
  );
}

/** How a membership stands, in one line. */
export function standingLine({ t, lang }: PageContext, { standing, unpaid }: MembershipShown): string {
  const day = (at: number) => formatDate(lang, at);
  switch (standing.kind) {
    case 'none':
      return t('membership.line.none');
    case 'paused':
      return t('membership.line.paused');
    case 'trial-over':
      return t('membership.line.trialOver');
    case 'trial':
      return t('membership.line.trial', { date: day(standing.at) });
    case 'unpaid':
      return t(unpaid?.why === 'action-required' ? 'membership.notice.action.title' : 'membership.line.unpaid');
    case 'lasting':
      return t(standing.isFree ? 'membership.line.free' : 'membership.line.lifetime');
    case 'renews':
      return standing.at === null
        ? (standing.plan.price ?? '')
        : t('membership.line.renews', { date: day(standing.at) });
    case 'ends':
      return t('membership.line.ends', { date: standing.at === null ? '' : day(standing.at) });
    case 'changes':
      return t('membership.line.changes', { date: standing.at === null ? '' : day(standing.at), plan: standing.to });
  }
}
