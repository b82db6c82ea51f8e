import type { Transaction } from 'kysely';
import type { Schema } from '../store/index.ts';
import { findPartnerDeal, findUserByIdentifier, setSource } from '../users/index.ts';
import type { Catalogue } from './catalogue.ts';

/**
 * Deals of addresses that are members' already wait for their Confirm: the source becomes appsumo_update, and their next
 * sign-in leads to the partner's plan (the specification's section 4, Post-login routing). The plan that they have stays till then.
 * @param emails normalised
 * @returns to how many members a plan is offered now
 */
export async function offerPartnerDeals(
  trx: Transaction<Schema>,
  emails: readonly string[],
  catalogue: Pick<Catalogue, 'ofTier'>,
  nowMs: number,
): Promise<number> {
  let offered = 0;
  for (const email of emails) {
    const member = await findUserByIdentifier(trx, { email });
    if (!member?.emailVerified) continue;
    const deal = await findPartnerDeal(trx, email);
    const plan = deal && deal.userId === null ? catalogue.ofTier(deal.tier) : undefined;
    if (!plan || (member.source === 'appsumo_update' && member.offeredPlanId === plan.id)) continue;
    await setSource(trx, member.id, { source: 'appsumo_update', offeredPlanId: plan.id }, nowMs);
    offered += 1;
  }
  return offered;
}
