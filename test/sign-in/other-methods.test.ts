import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { anyBackend } from '../support/stores.ts';
import { giveRecoveryCodes, memberWithTotp, toChallenge } from './factor-steps.ts';

describe('other methods of a second step', () => {
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(anyBackend);
  });
  afterAll(() => foyer?.close());

  it('The page has one list “Try another way” with each other method', async () => {
    const listOf = async (phone: object, codes: boolean) => {
      const { user } = await memberWithTotp(foyer, phone);
      if (codes) await giveRecoveryCodes(foyer, user);
      const browser = foyer.browser();
      await toChallenge(browser, user);
      const html = await (await browser.get('/second-factor')).text();
      const list = /<section aria-labelledby="other-ways">.*?<\/section>/s.exec(html)?.[0] ?? '';
      return {
        heading: /<h2[^>]*>([^<]*)/.exec(list)?.[1],
        methods: [...list.matchAll(/<button(?=[^>]* name="method")[^>]* value="(\w+)"/g)].map(([, method]) => method),
      };
    };
    const phone = { phone: '+4915119876502', phoneVerified: true };
    expect(await listOf(phone, true)).toEqual({ heading: 'Try another way', methods: ['sms', 'recovery'] });
    // Whether the user has recovery codes is not told before the second step.
    expect(await listOf({}, false)).toEqual({ heading: 'Try another way', methods: ['recovery'] });
  });
});
