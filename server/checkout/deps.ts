import type { Request } from 'express';
import type { Logger, Pages } from '../http/index.ts';
import type { BillingService, Catalogue } from '../membership/index.ts';
import type { Sessions } from '../sessions/index.ts';
import type { UserId } from '../shared/index.ts';
import type { NextRedirect, PendingAuthorization } from '../sign-in/index.ts';
import type { User } from '../users/index.ts';
import type { StripeForBrowsers } from './stripe-js.ts';

export interface CheckoutDeps {
  publicUrl: string;
  /** Where members go who do not want a plan now. */
  searchAppUrl: string;
  pages: Pages;
  log: Logger;
  sessions: Pick<Sessions, 'getCurrentUser'>;
  nextRedirect: NextRedirect;
  membership: BillingService & { catalogue: Catalogue };
  /** For the pages on which cards are entered. */
  stripe: StripeForBrowsers;
  /** The step of a sign-up at which somebody is who is not signed in. */
  verifyEmailUrl(req: Request): Promise<string>;
  /** The public handle of the plan that a member's sign-up was begun with. */
  findPlanKey(userId: UserId): Promise<string | undefined>;
  /** Injected by `app.ts`: the requests themselves are oauth/'s. Undefined: unknown, expired, or another browser's. */
  findPendingAuthorization(req: Request, id: string): Promise<PendingAuthorization | undefined>;
  now: () => number;
  /** A partner's plan that the member does not want yet: whether they are asked again later, and that they are. */
  deals: { isPostponed(user: User): boolean; postpone(user: User): Promise<User> };
}
