import { consumeLimits, rateLimits } from '../../http/index.ts';
import type { UserId } from '../../shared/index.ts';
import type { Db } from '../../store/index.ts';
import type { User } from '../../users/index.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import type { BillingDeps } from '../deps.ts';
import { type BillingDetailsState, type SaveDetailsResult, StripeUnavailableError } from '../results.ts';
import { updateContact } from '../subscription/contact.ts';
import { recordContactChange } from '../subscription/contact-store.ts';
import { findMembership } from '../subscription/membership-store.ts';
import { syncMember } from '../subscription/sync-from-stripe.ts';
import { toTaxId } from './countries.ts';
import {
  type BillingDetails,
  findDetails,
  findFault,
  locationRefusal,
  noDetails,
  type StoredDetails,
  toDetails,
  writeDetails,
} from './details-store.ts';
import { taxIdRefusal } from './tax-id.ts';

/** As Stripe has the VAT id: invoices show it. */
const asWritten = (details: BillingDetails): BillingDetails => ({
  ...details,
  vatId: details.vatId === null ? null : (toTaxId(details.country ?? '', details.vatId)?.value ?? null),
});

/** Details that Stripe refuses are not kept; the next job writes the former details to the customer again. */
async function restore(deps: BillingDeps, userId: UserId, before: StoredDetails | undefined): Promise<void> {
  const { database, now } = deps;
  await database.transaction(async (trx) => {
    await writeDetails(trx, { userId, details: before ? toDetails(before) : noDetails }, now());
    await recordContactChange(trx, userId, now());
  });
}

/**
 * Stores the billing details, and brings them to Stripe at once. While Stripe does not answer they wait for the minute
 * job. The caller holds the user's lock.
 */
export async function saveDetails(deps: BillingDeps, user: User, entered: BillingDetails): Promise<SaveDetailsResult> {
  const { database, kv, catalogue, log, now } = deps;
  const decision = await consumeLimits(kv, rateLimits.billingDetails, { account: user.id });
  if (!decision.allowed) {
    return { kind: 'refused', refusal: { kind: 'too-many', retryAfterMs: decision.retryAfterMs } };
  }
  const fault = findFault(entered, catalogue.needsBillingDetails);
  if (fault) return { kind: 'refused', refusal: { kind: fault } };
  const [before, membership] = [await findDetails(database.db, user.id), await findMembership(database.db, user.id)];
  await database.transaction(async (trx) => {
    await writeDetails(trx, { userId: user.id, details: asWritten(entered) }, now());
    await recordContactChange(trx, user.id, now());
  });
  if (!membership?.customerId) return { kind: 'saved' };
  try {
    const refused = await updateContact(deps, user, membership.customerId);
    const kind = refused.includes(locationRefusal) ? 'place' : refused.includes(taxIdRefusal) ? 'vat-id' : undefined;
    if (!kind) {
      // Its tax follows from the details.
      if (membership.nextCharge) await syncMember(deps, user.id);
      return { kind: 'saved' };
    }
    await restore(deps, user.id, before);
    if (kind === 'place') return { kind: 'refused', refusal: { kind } };
    return { kind: 'refused', refusal: { kind, country: entered.country ?? '' } };
  } catch (error) {
    if (!(error instanceof StripeUnavailableError)) throw error;
    log.warn({ err: error, act: 'billing-details', member: user.id }, 'could not update the customer at Stripe');
    return { kind: 'noted' };
  }
}

/** The stored details, and whether a charge still needs them. */
export async function findDetailsState(
  { db, catalogue }: { db: Db; catalogue: Pick<Catalogue, 'needsBillingDetails' | 'withdrawalDays'> },
  userId: UserId,
): Promise<BillingDetailsState> {
  const stored = await findDetails(db, userId);
  const membership = await findMembership(db, userId);
  const isNeeded = catalogue.needsBillingDetails;
  const details = stored ? toDetails(stored) : noDetails;
  const { contact } = membership ?? {};
  const isRefused = contact?.state === 'refused' && [locationRefusal].includes(contact.code);
  return {
    details,
    vatIdStatus: stored?.vatIdStatus ?? null,
    isNeeded,
    // For tax alone, an address that an operator has entered at Stripe is enough: Stripe refuses a charge without one.
    isMissing: isRefused || (catalogue.withdrawalDays !== undefined && findFault(details, true) !== undefined),
  };
}
