import { membershipPath } from '../../../views/account/tabs.ts';
import { WithdrawPage } from '../../../views/account/withdraw-page.tsx';
import { formatAmount } from '../../../views/format.ts';
import type { AddPage } from '../../http/index.ts';
import type { UserRequest } from '../../sign-in/index.ts';
import type { AccountDeps } from '../deps.ts';
import { membershipPageUrl } from '../notices.ts';
import { requireRecentAuth } from '../recent-auth-guard.ts';

const withdrawPath = `${membershipPath}/withdraw`;

/** The page says what is given back, before anything happens. */
async function show(r: UserRequest, { membership }: AccountDeps): Promise<void> {
  const found = await membership.findWithdrawal(r.user.id);
  if (!found) return r.redirect(membershipPageUrl('nothing'));
  const { order, until, refundCents } = found;
  r.render(
    WithdrawPage,
    {
      action: withdrawPath,
      plan: membership.catalogue.byId(order.planId)?.name ?? '',
      orderedAt: order.orderedAt,
      until,
      refund: formatAmount(r.lang, refundCents, { currency: order.currency }),
    },
    { title: 'membership.withdraw.title', address: withdrawPath },
  );
}

async function submit(r: UserRequest, { membership }: AccountDeps): Promise<void> {
  const notices = { withdrawn: 'withdrawn', noted: 'withdraw-noted', 'no-change': 'nothing' } as const;
  r.redirect(membershipPageUrl(notices[await membership.withdraw(r.user)]));
}

/** The withdrawal from a purchase; without consumers in the catalogue there is nothing to withdraw from. */
export function withdrawRoutes(add: AddPage<AccountDeps>, { membership }: Pick<AccountDeps, 'membership'>): void {
  if (!membership.sold) return;
  add(withdrawPath, { get: requireRecentAuth(show), post: requireRecentAuth(submit) });
}
