import type Stripe from 'stripe';
import { engineKit } from './stripe-engine-kit.ts';

type Customer = Pick<Stripe.Customer, 'id' | 'address' | 'name'>;
type TaxId = Pick<Stripe.TaxId, 'id' | 'country' | 'value' | 'verification'>;

describe('billing details of the stand-in for Stripe', () => {
  const setUp = () => {
    const kit = engineKit();
    const customer = kit.call<Customer>('POST', '/v1/customers', { email: 'ada@example.com' });
    const path = `/v1/customers/${customer.id}`;
    const add = (type: string, value: string) => kit.call<TaxId>('POST', `${path}/tax_ids`, { type, value });
    const statusOf = (id: string) =>
      kit.call<{ data: TaxId[] }>('GET', `${path}/tax_ids`).data.find((one) => one.id === id)?.verification?.status;
    return { ...kit, path, add, statusOf };
  };

  it.each([
    ['DE000000000', 'verified'],
    ['FR111111111', 'unverified'],
    ['NL222222222', 'pending'],
  ])('The number %s for tests ends as %s, after an answer that says pending', (value, status) => {
    const { add, statusOf, events, faults } = setUp();
    const made = add('eu_vat', value);
    expect([made.country, made.verification?.status]).toEqual([value.slice(0, 2), 'pending']);
    expect(statusOf(made.id)).toBe(status);
    const told = events.filter(({ type }) => type === 'customer.tax_id.updated');
    expect(told).toHaveLength(status === 'pending' ? 0 : 1);
    expect(faults).toEqual([]);
  });

  it.each([
    ['eu_vat', 'DE12345678'],
    ['eu_vat', 'GR123456789'],
    ['eu_vat', 'US123456789'],
    ['gb_vat', 'GB12'],
    ['ch_vat', 'CHE-123'],
    ['no_vat', '123456789'],
  ])('An id of the type %s with the wrong format %s is refused', (type, value) => {
    const { add } = setUp();
    expect(() => add(type, value)).toThrow(expect.objectContaining({ code: 'tax_id_invalid', param: 'value' }));
  });

  it('An id can be deleted, and only at the customer who has it', () => {
    const { call, add, path, statusOf, faults } = setUp();
    const other = call<Customer>('POST', '/v1/customers');
    const { id } = add('no_vat', '123456789MVA');
    expect(statusOf(id)).toBe('unavailable');
    expect(() => call('DELETE', `/v1/customers/${other.id}/tax_ids/${id}`)).toThrow('No such tax id');
    expect(call('DELETE', `${path}/tax_ids/${id}`)).toEqual({ id, object: 'tax_id', deleted: true });
    expect(statusOf(id)).toBeUndefined();
    expect(faults).toEqual([]);
  });

  it('A place that Stripe Tax does not know is refused where it is to be checked at once, and nothing is changed', () => {
    const { call, path } = setUp();
    const move = (address: object, check?: string) =>
      call<Customer>('POST', path, { address, ...(check && { tax: { validate_location: check } }) });
    move({ country: 'DE', postal_code: '10115' }, 'immediately');
    const nowhere = { country: 'US', postal_code: '00000' };
    const refusal = expect.objectContaining({ code: 'customer_tax_location_invalid' });
    expect(() => move(nowhere, 'immediately')).toThrow(refusal);
    expect(call<Customer>('GET', path).address).toMatchObject({ country: 'DE' });
    expect(move(nowhere).address).toMatchObject({ country: 'US' });
  });
});
