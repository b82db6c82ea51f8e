import type { RequestContext } from '../../http/index.ts';
import type { User } from '../../users/index.ts';
import { StripeUnavailableError } from '../results.ts';
import type { CheckoutDeps } from './checkout-deps.ts';
import { tooManyText, unavailableNotice } from './checkout-texts.ts';

interface BeginCardDeps {
  membership: Pick<CheckoutDeps['membership'], 'beginCard'>;
}

/**
 * Answers the script of a card form as JSON: `{clientSecret}` of a setup intent, else `{message}` for the user. Each
 * attempt needs a new one, so that each is counted.
 */
export async function createSetupIntent(r: RequestContext, { membership }: BeginCardDeps, user: User): Promise<void> {
  const { t, res } = r;
  try {
    const started = await membership.beginCard(user, { ip: r.ip });
    if (started.kind === 'begun') {
      res.json({ clientSecret: started.clientSecret });
      return;
    }
    r.setRetryAfter(started.retryAfterMs);
    res.status(429).json({ message: tooManyText(t, 'card', started.retryAfterMs) });
  } catch (error) {
    if (!(error instanceof StripeUnavailableError)) throw error;
    r.log.warn({ err: error, act: 'begin-card' }, 'Stripe does not answer');
    res.status(503).json({ message: unavailableNotice(t, 'update').title });
  }
}
