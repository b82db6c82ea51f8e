import type { Request } from 'express';
import { HttpError, toRetrySeconds } from '../../http/index.ts';
import type { StripeCustomerId, StripeSubscriptionId } from '../../shared/index.ts';
import type { Database } from '../../store/index.ts';
import { findCallingUser, findCurrentUser, type User } from '../../users/index.ts';
import { type PendingRenewal, ReadLimitError, StripeUnavailableError, TaxLocationError } from '../results.ts';
import type { Membership } from '../subscription/membership.ts';
import {
  findMembership,
  findMembershipByCustomer,
  findMembershipBySubscription,
} from '../subscription/membership-store.ts';

/** The specification's texts for failed calls (section 8). */
export const apiErrorTexts = {
  create: 'stripe customer creation error !',
  update: 'stripe customer updation error !',
  retrieve: 'Subscription retrieval failed!',
  order: 'Something went wrong!',
} as const;

/** Nothing is sold to a subscription that the operator has paused. */
export const refusePaused = (): HttpError =>
  new HttpError('subscriptionPaused', { detail: 'the subscription is paused' });

/** An upgrade waits for the renewal that is being charged. */
export const refuseWhileRenewing = ({ changeableAt }: PendingRenewal, nowMs: number): HttpError =>
  new HttpError('renewalPending', {
    publicDetail:
      changeableAt === null
        ? 'The renewal is on hold; the plan can be changed when it is paid'
        : 'The renewal is being charged; the plan can be changed after that',
    detail: 'the renewal is a draft',
    ...(changeableAt !== null && { retryAfterSeconds: toRetrySeconds(changeableAt - nowMs) }),
  });

const awaySeconds = 5;

/** Converts an unavailable Stripe to the specification's text. @throws {HttpError} 503 */
export async function orUnavailable<T>(publicDetail: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof StripeUnavailableError)) throw error;
    if (error instanceof ReadLimitError) {
      const retryAfterSeconds = toRetrySeconds(error.retryAfterMs);
      throw new HttpError('tooMany', { detail: error.message, retryAfterSeconds });
    }
    if (error instanceof TaxLocationError) {
      throw new HttpError('billingDetailsRequired', {
        publicDetail: 'A billing address is needed to calculate the tax',
        detail: error.message,
        cause: error,
      });
    }
    throw new HttpError('unavailable', {
      publicDetail,
      detail: error.message,
      retryAfterSeconds: awaySeconds,
      cause: error,
    });
  }
}

export const toTooManyError = (retryAfterMs: number) =>
  new HttpError('tooMany', {
    detail: 'too many cards or promotion codes',
    retryAfterSeconds: toRetrySeconds(retryAfterMs),
  });

type MembershipWithCustomer = Membership & { customerId: StripeCustomerId };
export const hasCustomer = (membership: Membership | undefined): membership is MembershipWithCustomer =>
  membership !== undefined && membership.customerId !== null;

/**
 * The user whose customer or subscription a call names: a user's own, or any that a client app names. Another user's
 * looks like a missing one, so that ids are not revealed.
 * @throws {HttpError} 404
 */
export async function findBillingOwner(
  req: Request,
  database: Database,
  { customerId, subscriptionId }: { customerId?: StripeCustomerId; subscriptionId?: StripeSubscriptionId },
): Promise<{ user: User; membership: MembershipWithCustomer }> {
  const missing = new HttpError('unknownCustomer', {
    publicDetail: apiErrorTexts.retrieve,
    detail: 'no such customer or subscription',
  });
  const member = await findCallingUser(req, database);
  let membership: Membership | undefined;
  if (member) membership = await findMembership(database.db, member.id);
  else if (customerId !== undefined) membership = await findMembershipByCustomer(database.db, customerId);
  else if (subscriptionId !== undefined) membership = await findMembershipBySubscription(database.db, subscriptionId);
  if (!hasCustomer(membership)) throw missing;
  if (customerId !== undefined && membership.customerId !== customerId) throw missing;
  if (subscriptionId !== undefined && membership.subscriptionId !== subscriptionId) throw missing;
  const user = member ?? (await findCurrentUser(database, membership.userId));
  if (!user || user.disabledAt !== null) throw missing;
  return { user, membership };
}
