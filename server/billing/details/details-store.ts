import type { Transaction } from 'kysely';
import type { UserId } from '../../shared/index.ts';
import type { Db, Row, Schema } from '../../store/index.ts';
import { hasPostalCodes, toTaxId } from './countries.ts';

/** The billing details of a user; null where nothing was entered. */
export type BillingDetails = Pick<
  Row<'billingDetails'>,
  'name' | 'company' | 'line1' | 'line2' | 'postalCode' | 'city' | 'state' | 'country' | 'vatId'
>;

/** The same with the state of the VAT id at Stripe. */
export type StoredDetails = Row<'billingDetails'>;

export const noDetails: BillingDetails = {
  name: null,
  company: null,
  line1: null,
  line2: null,
  postalCode: null,
  city: null,
  state: null,
  country: null,
  vatId: null,
};

export function findDetails(db: Db, userId: UserId): Promise<StoredDetails | undefined> {
  return db.selectFrom('billingDetails').selectAll().where('userId', '=', userId).executeTakeFirst();
}

/** A VAT id that is new, or was refused before, is not verified yet. */
function keptStatus(before: StoredDetails | undefined, { vatId }: BillingDetails): StoredDetails['vatIdStatus'] {
  const isSame = before !== undefined && before.vatId === vatId && before.vatIdStatus !== 'unverified';
  return isSame ? before.vatIdStatus : null;
}

export async function writeDetails(
  trx: Transaction<Schema>,
  { userId, details }: { userId: UserId; details: BillingDetails },
  nowMs: number,
): Promise<void> {
  const before = await findDetails(trx, userId);
  const row = {
    ...details,
    vatIdStatus: keptStatus(before, details),
    // Later than before, even within the same millisecond: the idempotency key of a VAT id contains it.
    updatedAt: Math.max(nowMs, (before?.updatedAt ?? 0) + 1),
  };
  await trx
    .insertInto('billingDetails')
    .values({ userId, ...row, taxIdObject: before?.taxIdObject ?? null, createdAt: before?.createdAt ?? nowMs })
    .onConflict((conflict) => conflict.column('userId').doUpdateSet(row))
    .execute();
}

/** Records what Stripe says about the VAT id, unless the user has changed the details meanwhile. */
export async function writeTaxId(
  db: Db,
  { userId, updatedAt }: Pick<StoredDetails, 'userId' | 'updatedAt'>,
  state: Pick<StoredDetails, 'vatIdStatus' | 'taxIdObject'>,
): Promise<void> {
  await db
    .updateTable('billingDetails')
    .set(state)
    .where('userId', '=', userId)
    .where('updatedAt', '=', updatedAt)
    .execute();
}

export async function eraseDetails(trx: Transaction<Schema>, userId: UserId): Promise<void> {
  await trx.deleteFrom('billingDetails').where('userId', '=', userId).execute();
}

export const toDetails = (stored: StoredDetails): BillingDetails => {
  const { name, company, line1, line2, postalCode, city, state, country, vatId } = stored;
  return { name, company, line1, line2, postalCode, city, state, country, vatId };
};

/** The code of Stripe's refusal of an address. */
export const locationRefusal = 'customer_tax_location_invalid';

/** The fault of details that Stripe need not be asked about. */
export function findFault({ country, postalCode, vatId }: BillingDetails, isNeeded: boolean) {
  if (country === null && (isNeeded || vatId !== null)) return 'no-country';
  if (isNeeded && country !== null && postalCode === null && hasPostalCodes(country)) return 'no-postal-code';
  return vatId !== null && toTaxId(country ?? '', vatId) === undefined ? 'vat-id-country' : undefined;
}
