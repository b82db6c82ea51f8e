import type { Customer } from './objects.ts';
import type { Reader } from './params.ts';

export const addressFields = ['city', 'country', 'line1', 'line2', 'postal_code', 'state'] as const;

/** An address as Stripe answers it: every field, null where nothing was given. */
export function toAddress(reader: Reader | undefined) {
  if (!reader) return null;
  const field = (name: (typeof addressFields)[number]) => reader.text(name) ?? null;
  return {
    city: field('city'),
    country: field('country'),
    line1: field('line1'),
    line2: field('line2'),
    postal_code: field('postal_code'),
    state: field('state'),
  };
}

/** Tests whether Stripe Tax knows the place (docs.stripe.com/tax/customer-locations). */
export function canPlace(address: Customer['address'] | undefined): boolean {
  const { country, postal_code: code, state } = address ?? {};
  if (!country || country === 'XX') return false;
  if (country === 'US') return /^\d{5}(?:-\d{4})?$/.test(code ?? '') && code !== '00000';
  return country !== 'CA' || Boolean(code ?? state);
}
