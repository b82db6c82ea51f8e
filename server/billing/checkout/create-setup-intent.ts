import type { Request, Response } from 'express';
import { setRetryAfter } from '../../http/index.ts';
import type { User } from '../../users/index.ts';
import { StripeUnavailableError } from '../results.ts';
import type { CheckoutDeps } from './checkout-deps.ts';
import { tooManyText, unavailableNotice } from './checkout-texts.ts';

export type BeginCardDeps = Pick<CheckoutDeps, 'pages' | 'log'> & {
  membership: Pick<CheckoutDeps['membership'], 'beginCard'>;
};

/**
 * Answers the script of a card form as JSON: `{clientSecret}` of a setup intent, else `{message}` for the user. Each
 * attempt needs a new one, so that each is counted.
 */
export async function createSetupIntent(deps: BeginCardDeps, req: Request, res: Response, user: User): Promise<void> {
  const { t } = req;
  try {
    const started = await deps.membership.beginCard(user, { ip: req.ip ?? '' });
    if (started.kind === 'begun') {
      res.json({ clientSecret: started.clientSecret });
      return;
    }
    setRetryAfter(res, started.retryAfterMs);
    res.status(429).json({ message: tooManyText(t, started.retryAfterMs) });
  } catch (error) {
    if (!(error instanceof StripeUnavailableError)) throw error;
    deps.log.warn({ err: error, act: 'begin-card' }, 'Stripe does not answer');
    res.status(503).json({ message: unavailableNotice(t, 'update').title });
  }
}
