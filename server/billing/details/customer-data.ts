import type Stripe from 'stripe';
import { fullName, type User } from '../../users/index.ts';
import type { StoredDetails } from './details-store.ts';

/** The data of a user that the customer at Stripe has. */
export interface CustomerData {
  user: Pick<User, 'id' | 'email' | 'givenName' | 'familyName' | 'locale'>;
  details: StoredDetails | undefined;
}

const toPersonName = ({ user, details }: CustomerData): string => details?.name ?? fullName(user);

/** The name on invoices: a company's, else the person's. */
export const customerName = (data: CustomerData): string => data.details?.company ?? toPersonName(data);

/** '' removes a value at Stripe. */
const orEmpty = (text: string | null) => text ?? '';

/** undefined: nothing was entered. */
export function customerAddress({ details }: CustomerData): Stripe.AddressParam | undefined {
  if (!details) return undefined;
  const { line1, line2, postalCode, city, state, country } = details;
  return {
    line1: orEmpty(line1),
    line2: orEmpty(line2),
    postal_code: orEmpty(postalCode),
    city: orEmpty(city),
    state: orEmpty(state),
    country: orEmpty(country),
  };
}

const hasAddress = (address: Stripe.AddressParam): boolean => Object.values(address).some((text) => text !== '');

/** The billing details as parameters of a customer. */
export function customerDetails(data: CustomerData): Stripe.CustomerUpdateParams {
  const address = customerAddress(data);
  if (!address) return {};
  return {
    address: hasAddress(address) ? address : '',
    business_name: orEmpty(data.details?.company ?? null),
    individual_name: toPersonName(data),
  };
}

/** Tests whether a customer has the address of the billing details. */
export function hasSameAddress(data: CustomerData, at: Stripe.Address | null | undefined): boolean {
  const address = customerAddress(data);
  if (!address) return true;
  const there = new Map(Object.entries(at ?? {}));
  return Object.entries(address).every(([name, text]) => (there.get(name) ?? '') === text);
}
