import type { Transaction } from 'kysely';
import { resolveLanguage, type T, translator } from '../../http/index.ts';
import type { Mail } from '../../messages/index.ts';
import type { Schema } from '../../store/index.ts';
import { findUserRecord, type User } from '../../users/index.ts';
import type { BillingDeps } from '../deps.ts';
import { listMembershipMails, type MembershipChange, type MembershipMail } from './membership-changes.ts';
import { recordNotification } from './membership-store.ts';

/** Mails that are also shown inside the marketplace: the user must act, or has lost something. */
function toNotification(
  t: T,
  { template, values }: MembershipMail,
): { title: string; description: string } | undefined {
  switch (template) {
    case 'payment-failed':
      return { title: t('mail.paymentFailed.title'), description: t('mail.paymentFailed.lead') };
    case 'payment-action-required':
      return { title: t('mail.paymentActionRequired.title'), description: t('mail.paymentActionRequired.lead') };
    case 'trial-ends':
      return { title: t('mail.trialEnds.title'), description: t('mail.trialEnds.lead', { count: values.days }) };
    case 'plan-ended':
      return { title: t('mail.planEnded.title'), description: t(`mail.planEnded.lead.${values.why}`) };
    default:
      return undefined;
  }
}

/** The page that a mail links to. */
const toPageUrl = (publicUrl: string, { template }: MembershipMail) =>
  `${publicUrl}${template === 'trial-ends' ? '/plan-purchase' : '/settings/membership'}`;

/** Writes one mail, and its notification, in the caller's transaction. Disabled users get none. */
export async function notifyMembership(
  { publicUrl, outbox, now }: Pick<BillingDeps, 'publicUrl' | 'outbox' | 'now'>,
  trx: Transaction<Schema>,
  { user, mail }: { user: User; mail: MembershipMail },
): Promise<void> {
  if (user.disabledAt !== null) return;
  if (mail.once !== undefined && !(await recordNotification(trx, { userId: user.id, about: mail.once }, now()))) return;
  const lang = resolveLanguage(undefined, user.locale ?? undefined);
  const about = { givenName: user.givenName, pageLink: toPageUrl(publicUrl, mail) };
  await outbox.add(trx, {
    channel: 'mail',
    to: user.email,
    lang,
    template: mail.template,
    values: { ...about, ...mail.values },
    // In the order of the events.
    groupId: `membership:${user.id}`,
  } as Mail);
  const notice = toNotification(translator(lang), mail);
  if (notice) await outbox.add(trx, { channel: 'notification', userId: user.id, ...notice, category: 'membership' });
}

/** Writes the mails about changes, each once, in the transaction of the change. */
export async function notifyMembershipChange(
  deps: BillingDeps,
  trx: Transaction<Schema>,
  changes: Omit<MembershipChange, 'rewards'>,
): Promise<void> {
  const { user } = changes;
  if (user.disabledAt !== null) return;
  const rewards = changes.orders.length > 0 ? (await findUserRecord(trx, user.id))?.totalRewards : undefined;
  for (const mail of listMembershipMails({ ...changes, rewards: rewards ?? '0' }, deps.catalogue))
    await notifyMembership(deps, trx, { user, mail });
}
