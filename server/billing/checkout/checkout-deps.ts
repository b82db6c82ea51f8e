import type { Request } from 'express';
import type { RequestServices } from '../../http/index.ts';
import type { Sessions } from '../../sessions/index.ts';
import type { PlanKey, UserId } from '../../shared/index.ts';
import type { NextRedirect, PendingAuthorization } from '../../sign-in/index.ts';
import type { TermsVersion, User } from '../../users/index.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import type { Order } from '../orders/order.ts';
import type { BillingService } from '../results.ts';
import type { StripeForBrowsers } from './stripe-js.ts';

export interface CheckoutDeps extends RequestServices {
  /** The page for users who decline a plan for now. */
  searchAppUrl: string;
  sessions: Pick<Sessions, 'getCurrentUser'>;
  terms: TermsVersion;
  nextRedirect: NextRedirect;
  membership: BillingService & { catalogue: Catalogue };
  /** For the pages with a card form. */
  stripe: StripeForBrowsers;
  /** The sign-up step of a visitor who is not signed in. */
  verifyEmailUrl(req: Request): Promise<string>;
  /** The public handle of the plan with which a user's sign-up started. */
  findPlanKey(userId: UserId): Promise<PlanKey | undefined>;
  /** Injected by `app.ts`, because the requests belong to oidc/. Undefined: unknown, expired, or another browser's. */
  findPendingAuthorization(req: Request, id: string): Promise<PendingAuthorization | undefined>;
  /** The newest order of a user. */
  findLatestOrder(userId: UserId): Promise<Order | undefined>;
  now: () => number;
  /** Postponing a partner's plan: whether the user is asked again later, and setting that. */
  deals: { isPostponed(user: User): boolean; postpone(user: User): Promise<User> };
}
