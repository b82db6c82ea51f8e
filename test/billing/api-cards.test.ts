import { anyBackend } from '../support/stores.ts';
import { aBuyer, type Buyer } from './api-steps.ts';
import { cards, type Shop, startShop } from './steps.ts';

// One pair of stores is enough: test/api/matrix.test.ts makes each of these calls on all.
describe('cards in the JSON API', () => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await startShop(anyBackend, { CARD_LIMIT_ADDRESS: '100000' });
  });
  afterAll(() => shop?.close());

  describe('saving a card', () => {
    const at = (buyer: Buyer, slash = '/') => `/customer/${buyer.customer}/paymenttypes${slash}`;
    const saved = (last4: string) => ({
      status: 200,
      body: {
        data: [
          { id: expect.stringMatching(/^pm_/), brand: 'visa', last4, exp_year: expect.any(Number), is_default: true },
        ],
      },
    });

    it('A card is saved by a token of Stripe, with and without the slash', async () => {
      const buyer = await aBuyer(shop, null);
      for (const slash of ['/', '']) {
        const { id } = await shop.stripe
          .client()
          .tokens.create({ card: { number: cards.visa, exp_month: '12', exp_year: '2034', cvc: '123' } });
        const said = { purchase_type: ['plan'], source: id, is_default: true };
        expect(await buyer.call('POST', at(buyer, slash), said)).toMatchObject(saved('4242'));
      }
      expect(await shop.membership.getMembership(buyer.user.id)).toMatchObject({
        card: { brand: 'visa', lastFour: '4242' },
      });
    });

    it('A card is saved by a setup intent that the browser has confirmed', async () => {
      const buyer = await aBuyer(shop, null);
      const source = await shop.confirmCard(buyer.user);
      expect(await buyer.call('POST', at(buyer), { source })).toMatchObject(saved('4242'));
    });

    it('Saving a card by another member’s setup intent gets 404 and changes no member’s card', async () => {
      const [own, other] = [await aBuyer(shop, null), await aBuyer(shop, null)];
      const source = await shop.confirmCard(other.user);
      expect(await own.call('POST', at(own), { source })).toMatchObject({
        status: 404,
        body: { detail: 'stripe customer updation error !' },
      });
      expect(await own.call('POST', at(other), { source })).toMatchObject({ status: 404 });
      for (const { user } of [own, other])
        expect(await shop.membership.getMembership(user.id)).toMatchObject({ card: null });
    });

    it.each([
      ['that is declined', cards.declined, /declined/],
      ['without money', cards.insufficientFunds, /insufficient/],
    ])('Saving a card %s gets 402 with the provider’s message', async (_what, number, message) => {
      const buyer = await aBuyer(shop, null);
      const { id } = await shop.stripe
        .client()
        .tokens.create({ card: { number, exp_month: '12', exp_year: '2034', cvc: '123' } });
      expect(await buyer.call('POST', at(buyer), { source: id })).toMatchObject({
        status: 402,
        body: { errMessage: expect.stringMatching(message) },
      });
    });

    it('Saving a card by an invalid or used token, or beside the default card, is refused', async () => {
      const buyer = await aBuyer(shop, null);
      expect(await buyer.call('POST', at(buyer), { source: 'tok_none' })).toMatchObject({ status: 404 });
      expect(await buyer.call('POST', at(buyer), { source: 'tok_1', is_default: false })).toMatchObject({
        status: 409,
      });
      for (const source of ['4242424242424242', 'pm_card_visa', 'cus_1', '']) {
        expect(await buyer.call('POST', at(buyer), { source })).toMatchObject({ status: 400 });
      }
      expect(await shop.membership.getMembership(buyer.user.id)).toMatchObject({ card: null });
    });

    it('Saving cards is limited, so that it cannot be used to test stolen cards', async () => {
      const buyer = await aBuyer(shop, null);
      const tries = await Promise.all(
        Array.from({ length: 12 }, () => buyer.call('POST', at(buyer), { source: 'tok_chargeDeclined' })),
      );
      expect(tries.map(({ status }) => status).filter((status) => status === 429).length).toBeGreaterThanOrEqual(2);
    });
  });
});
