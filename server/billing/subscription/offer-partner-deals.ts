import type { Transaction } from 'kysely';
import type { NormalisedEmail } from '../../shared/index.ts';
import type { Schema } from '../../store/index.ts';
import { findPartnerDeal, findUserByIdentifier, setSource } from '../../users/index.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';

/**
 * Deals for addresses of existing users wait for their confirmation: the source becomes appsumo_update, and the next
 * sign-in leads to the partner's plan (the specification's section 4, Post-login routing). The present plan stays till
 * then.
 * @returns the number of users who have an offer now
 */
export async function offerPartnerDeals(
  trx: Transaction<Schema>,
  emails: readonly NormalisedEmail[],
  { catalogue, nowMs }: { catalogue: Pick<Catalogue, 'ofTier'>; nowMs: number },
): Promise<number> {
  let offered = 0;
  for (const email of emails) {
    const member = await findUserByIdentifier(trx, { email });
    if (!member?.emailVerified) continue;
    const deal = await findPartnerDeal(trx, email);
    const plan = deal && deal.userId === null ? catalogue.ofTier(deal.tier) : undefined;
    if (!plan || (member.source === 'appsumo_update' && member.offeredPlanId === plan.id)) continue;
    await setSource(trx, member.id, { source: 'appsumo_update', offeredPlanId: plan.id, nowMs });
    offered += 1;
  }
  return offered;
}
