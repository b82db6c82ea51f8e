import { randomUUID } from 'node:crypto';
import type Stripe from 'stripe';
import type { StripeCustomerId, UserId } from '../../shared/index.ts';
import type { BillingDeps } from '../deps.ts';
import { callStripe, hasFailed, orNotFound, toStripeRefusal } from '../stripe/stripe-client.ts';
import { outdateNextCharge } from '../subscription/contact-store.ts';
import { findMembership } from '../subscription/membership-store.ts';
import { withUserLock } from '../user-lock.ts';
import { type TaxId, toTaxId } from './countries.ts';
import { findDetails, type StoredDetails, writeTaxId } from './details-store.ts';

const maxTaxIds = 100;

/** The code of Stripe's refusal of a VAT id. */
export const taxIdRefusal = 'tax_id_invalid';

type Deps = Pick<BillingDeps, 'database' | 'stripe' | 'catalogue'>;

/** The id that the customer should have. */
const toTarget = ({ country, vatId }: StoredDetails): TaxId | undefined =>
  vatId === null ? undefined : toTaxId(country ?? '', vatId);

interface TaxIdResult {
  /** undefined: the customer has none. */
  taxId?: Stripe.TaxId | undefined;
  isNew: boolean;
  /** Stripe refuses its format. */
  refused: boolean;
}

const findTaxId = (ids: readonly Stripe.TaxId[], target: TaxId): Stripe.TaxId | undefined =>
  ids.find(({ type, value }) => type === target.type && value === target.value);

const listTaxIds = async ({ stripe }: Deps, customerId: StripeCustomerId): Promise<Stripe.TaxId[]> =>
  (await callStripe(stripe, (client) => client.customers.listTaxIds(customerId, { limit: maxTaxIds }))).data;

/** A request that has failed is repeated with another key, unless it was executed nevertheless. */
async function createTaxId(
  deps: Deps,
  customerId: StripeCustomerId,
  { target, details }: { target: TaxId; details: StoredDetails },
): Promise<Stripe.TaxId> {
  const key = `foyer:tax-id:${details.userId}:${details.updatedAt}`;
  const create = (idempotencyKey: string) =>
    callStripe(deps.stripe, (client) => client.customers.createTaxId(customerId, target, { idempotencyKey }));
  try {
    return await create(key);
  } catch (error) {
    if (!hasFailed(error)) throw error;
    return findTaxId(await listTaxIds(deps, customerId), target) ?? create(`${key}:${randomUUID()}`);
  }
}

/** Finds the id among those of the customer, or creates it; one that the registry does not know is not created again. */
async function ensureTaxId(
  deps: Deps,
  customerId: StripeCustomerId,
  { ids, details }: { ids: readonly Stripe.TaxId[]; details: StoredDetails },
): Promise<TaxIdResult> {
  const target = toTarget(details);
  const taxId = target && findTaxId(ids, target);
  if (!target || taxId || details.vatIdStatus === 'unverified') return { taxId, isNew: false, refused: false };
  try {
    const created = await createTaxId(deps, customerId, { target, details });
    return { taxId: created, isNew: true, refused: false };
  } catch (error) {
    const refusal = toStripeRefusal(error)?.code ?? '';
    if (![taxIdRefusal].includes(refusal)) throw error;
    return { isNew: false, refused: true };
  }
}

type Status = StoredDetails['vatIdStatus'];
const statuses = ['pending', 'verified', 'unverified', 'unavailable'] as const;

function toStatus(taxId: Stripe.TaxId | undefined, { vatId }: StoredDetails): Status {
  if (!taxId) return vatId === null ? null : 'unverified';
  return statuses.find((one) => one === taxId.verification?.status) ?? 'unavailable';
}

/** Deletes ids of the customer; one that an operator has deleted is fine too. */
async function removeTaxIds({ stripe }: Deps, customerId: StripeCustomerId, ids: readonly string[]): Promise<void> {
  for (const id of ids) await callStripe(stripe, (client) => orNotFound(client.customers.deleteTaxId(customerId, id)));
}

/**
 * Brings the VAT id of the billing details to the customer, and reads the answer of the registry. Ids that an operator
 * has added stay. Stripe Tax lets every id of the right format go without tax, so that one that the registry does not
 * know is taken away again.
 * @throws {StripeUnavailableError}
 */
export async function bringTaxId(
  deps: Deps,
  customerId: StripeCustomerId,
  details: StoredDetails,
): Promise<{ refused: boolean; changed: boolean }> {
  const { taxIdObject: formerId, vatId, vatIdStatus } = details;
  if (vatId === null && formerId === null) return { refused: false, changed: false };
  const ids = await listTaxIds(deps, customerId);
  const { taxId, isNew, refused } = await ensureTaxId(deps, customerId, { ids, details });
  const status = toStatus(taxId, details);
  const isRefuted = deps.catalogue.tax?.automatic === true && status === 'unverified';
  const keptId = isRefuted ? undefined : taxId?.id;
  const ours = new Set([formerId, taxId?.id]);
  const removed = ids.map(({ id }) => id).filter((id) => id !== keptId && ours.has(id));
  await removeTaxIds(deps, customerId, removed);
  await writeTaxId(deps.database.db, details, { vatIdStatus: status, taxIdObject: keptId ?? null });
  const changed = isNew || removed.length > 0 || status !== vatIdStatus;
  const membership = changed ? await findMembership(deps.database.db, details.userId) : undefined;
  if (membership) await outdateNextCharge(deps.database.db, membership);
  return { refused, changed };
}

/** The verification has finished. @returns whether anything has changed. @throws {StripeUnavailableError} */
export const refreshTaxId = (deps: Deps, userId: UserId, customerId: StripeCustomerId): Promise<boolean> =>
  withUserLock(deps.database, userId, async () => {
    const details = await findDetails(deps.database.db, userId);
    return details !== undefined && (await bringTaxId(deps, customerId, details)).changed;
  });
