import type { ReturnedMethod } from '../../../views/billing/payment-page.tsx';
import type { RequestContext } from '../../http/index.ts';
import type { User } from '../../users/index.ts';
import type { CheckoutDeps } from './checkout-deps.ts';
import { refusalText } from './checkout-texts.ts';

/** The state of a page to which a bank's page has led back. */
interface ReturnState {
  returned?: ReturnedMethod;
  status?: number;
  problem?: { text: string };
}

/**
 * Reads the setup intent of the address (iDEAL, Bancontact) at Stripe: the other parameters there prove nothing. A
 * GET saves nothing: the user goes on by the page's button. @throws {StripeUnavailableError}
 */
export async function readReturn(
  r: RequestContext,
  { membership }: { membership: Pick<CheckoutDeps['membership'], 'findReturned'> },
  user: User,
): Promise<ReturnState> {
  const setupIntent = r.query('setup_intent');
  if (setupIntent === undefined) return {};
  const found = await membership.findReturned(user, setupIntent);
  switch (found.kind) {
    case 'saved':
      return { returned: { card: found.card, setupIntent } };
    case 'declined':
      return { status: 402, problem: { text: refusalText(r, found) } };
    case 'not-confirmed':
      return { status: 400, problem: { text: r.t('payment.methods.notConfirmed') } };
  }
}
