import type { Request, Response } from 'express';
import type { User } from '../account/index.ts';
import { setRetryAfter } from '../http/index.ts';
import { BillingUnavailable } from '../membership/index.ts';
import type { CheckoutDeps } from './deps.ts';
import { tooManyTries, unavailable } from './texts.ts';

export type BeginCardDeps = Pick<CheckoutDeps, 'pages' | 'log'> & {
  membership: Pick<CheckoutDeps['membership'], 'beginCard'>;
};

/**
 * Answers the script of a card form as JSON: `{clientSecret}` of a setup intent, else `{message}` for the member. Each
 * attempt asks anew, so that each is counted.
 */
export async function beginCard(deps: BeginCardDeps, req: Request, res: Response, user: User): Promise<void> {
  const { t } = req;
  try {
    const begun = await deps.membership.beginCard(user, { ip: req.ip ?? '' });
    if (begun.kind === 'begun') {
      res.json({ clientSecret: begun.clientSecret });
      return;
    }
    setRetryAfter(res, begun.retryAfterMs);
    res.status(429).json({ message: tooManyTries(t, begun.retryAfterMs) });
  } catch (error) {
    if (!(error instanceof BillingUnavailable)) throw error;
    deps.log.warn({ err: error, act: 'begin-card' }, 'Stripe does not answer');
    res.status(503).json({ message: unavailable(t, 'update').title });
  }
}
