import { anyBackend } from '../support/stores.ts';
import { aBuyer } from './api-steps.ts';
import { type Shop, startShop } from './steps.ts';

/** The errors in the log: pino's level 50 and above. */
const errorLines = (log: string) => log.split('\n').filter((line) => /"level":[56]0/.test(line));

describe('answers of the JSON API to members', () => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await startShop(anyBackend);
  });
  afterAll(() => shop?.close());

  it('A member who reads Stripe too often gets 429 with the time to wait, and no error in the log', async () => {
    const buyer = await aBuyer(shop);
    const { foyer } = shop;
    await foyer.deps.kv.consumeCount(`billing:reads:${buyer.user.id}`, 60_000, 120);
    const before = errorLines(foyer.logged()).length;
    const purchase = { plan_name: 'm-99', amount: '99.00' };
    const answer = await buyer.call('POST', buyer.path, purchase);
    expect(answer).toMatchObject({
      status: 429,
      body: { type: 'urn:foyer:problem:tooMany', retryAfter: expect.any(Number) },
    });
    expect(errorLines(foyer.logged())).toHaveLength(before);
    await foyer.deps.kv.delete(`billing:reads:${buyer.user.id}`);
    expect(await buyer.call('POST', buyer.path, purchase)).toMatchObject({ status: 200 });
  });

  it('A text may have tabs and lines; a control character and a text that is too long have reasons of their own', async () => {
    const buyer = await aBuyer(shop, null);
    const save = (about: string) => buyer.call('POST', '/user/signup/plan', { about });
    expect(await save('One\tcolumn\nand a line')).toMatchObject({
      status: 200,
      body: { data: { about: 'One\tcolumn\nand a line' } },
    });
    const reason = (detail: string) => ({ status: 400, body: { errors: [{ name: 'body.about', detail }] } });
    expect(await save('a\u0007b')).toMatchObject(reason('characters that are not accepted'));
    expect(await save('x'.repeat(4_001))).toMatchObject(reason('at most 4000 characters'));
  });
});
