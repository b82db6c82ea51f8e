import type { PageContext } from '../page-context.ts';
import { ButtonLink } from '../parts/button.tsx';
import { Card } from '../parts/card.tsx';
import { ItemList } from '../parts/item-list.tsx';
import { Notice } from '../parts/notice.tsx';
import { failedText } from './membership-notices.tsx';
import { planStatusLine } from './membership-page.tsx';
import type { MembershipView } from './membership-view.ts';
import { membershipPath } from './tabs.ts';

interface Props {
  ctx: PageContext;
  membership: MembershipView;
}

/** On the settings' home: the plan in one line, and the link to the rest. */
export function MembershipCard({ ctx, membership }: Props) {
  const { t } = ctx;
  const { status, trial } = membership;
  const plan = 'plan' in status ? status.plan.line : undefined;
  const title = t('membership.title');
  return (
    <Card flush title={title}>
      <ItemList
        items={[
          {
            label: plan ?? (status.kind === 'trial' ? trial?.name : undefined) ?? t('membership.plan.none'),
            value: planStatusLine(ctx, membership),
            action: { href: membershipPath, label: t('membership.act.manage'), context: title },
          },
        ]}
      />
    </Card>
  );
}

/**
 * Above the settings' home, while it is open: a payment has failed, or the bank requires authentication by the user.
 */
export function UnpaidOnHome({ ctx, membership: { unpaid, card } }: Props) {
  const { t } = ctx;
  if (!unpaid) return null;
  const waits = unpaid.why === 'action-required';
  return (
    <Notice
      kind={waits ? 'info' : 'error'}
      title={t(waits ? 'membership.notice.action.title' : 'membership.notice.failed.title')}
      acts={
        <ButtonLink href={membershipPath}>
          {waits ? t('membership.act.confirm') : t('membership.act.settle')}
        </ButtonLink>
      }
    >
      {waits ? t('membership.notice.action.text', { amount: unpaid.amount }) : failedText(t, unpaid.amount, card)}
    </Notice>
  );
}
