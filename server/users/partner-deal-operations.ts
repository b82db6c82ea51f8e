import { z } from 'zod';
import { type ApiOperation, defineOperation } from '../http/index.ts';
import type { Database } from '../store/index.ts';
import { findPartnerDeal } from './partner-deal-store.ts';
import { normaliseEmail } from './user.ts';

/** Whether somebody with this address has bought from the partner and may still sign up with it. */
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
      summary: 'Whether a partner deal waits for this address',
      body: z.object({ email: z.string().max(254) }),
      answer: z.object({ exist: z.boolean() }),
      // Whoever tries addresses out learns who bought a deal: a visitor needs one call.
      handle: async ({ body }) => ({ exist: await hasPartnerDeal(database, body.email) }),
    }),
  ];
}
