import { z } from 'zod';
import { type ApiOperation, defineOperation, doc } from '../http/index.ts';
import type { Database } from '../store/index.ts';
import { findPartnerDeal } from './partner-deal-store.ts';
import { normaliseEmail } from './user.ts';

/** Tests whether a buyer with this address has a deal from the partner and can still sign up with it. */
export async function hasPartnerDeal(database: Database, address: string): Promise<boolean> {
  const email = normaliseEmail(address);
  const deal = email === undefined ? undefined : await findPartnerDeal(database.db, email);
  return deal !== undefined && deal.userId === null;
}

/** The specification's check at a sign-up from the partner (section 7). */
export function partnerDealOperations(database: Database): ApiOperation[] {
  return [
    defineOperation({
      method: 'post',
      path: '/item/appsumo/checkSignupFromAppsumo',
      id: 'checkSignupFromAppsumo',
      summary: 'Check whether an address has a partner deal',
      description: 'A deal that a member has used already counts as none.',
      body: z.object({ email: z.string().max(254).meta(doc('Email address of the buyer', 'ada@example.com')) }),
      answer: z
        .object({ exist: z.boolean().meta(doc('Whether a deal waits for this address')) })
        .meta({ id: 'PartnerDealCheck', description: 'Whether there is a deal.' }),
      // A caller who tries addresses learns who bought a deal, so visitors have a low limit: one call suffices.
      handle: async ({ body }) => ({ exist: await hasPartnerDeal(database, body.email) }),
    }),
  ];
}
