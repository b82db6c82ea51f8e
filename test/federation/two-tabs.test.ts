import { providerKinds } from '../../config/standard-providers.ts';
import { memberBy } from '../account/provider-steps.ts';
import { type Browser, locationOf } from '../support/browser.ts';
import type { TestFoyer } from '../support/foyer.ts';
import { startWithProviders } from '../support/foyer-with-providers.ts';
import { formFieldsOf } from '../support/provider-forms.ts';
import type { TestProviders } from '../support/providers.ts';
import { sendRequest } from '../support/send-request.ts';
import { backends } from '../support/stores.ts';
import { answerOf, type Kind, type Person, pathOf, pressButton, somebody } from './steps.ts';

describe.each(backends)('two tabs of one browser at one provider on $name', (backend) => {
  let providers: TestProviders;
  let foyer: TestFoyer;
  startWithProviders(
    backend,
    (started) => ({ ...started.environment(), GUESS_LIMIT_ADDRESS: '100000' }),
    (setting) => {
      ({ foyer, providers } = setting);
    },
  );

  /** The provider answers the request of one tab, and the tab returns to Foyer. */
  async function complete(browser: Browser, kind: Kind, address: string, who: Person): Promise<Response> {
    if (kind !== 'saml') return browser.get(await answerOf(providers, kind, who, address), { from: 'cross-site' });
    providers.answerAs(who, kind);
    const fields = formFieldsOf(await (await sendRequest(address)).text());
    const elsewhere = { origin: providers.url, 'sec-fetch-site': 'cross-site' };
    return browser.get(locationOf(await browser.post('/federation/acme-saml/acs', fields, elsewhere)));
  }

  it.each(providerKinds)(
    'Each of two tabs at %s completes its own sign-in, although the second tab is answered first',
    async (kind) => {
      const who = somebody(providers, kind);
      await memberBy(foyer, providers, kind, who);
      const browser = foyer.browser();
      const first = await pressButton(browser, kind, { search: '?redirect=/settings/name' });
      const second = await pressButton(browser, kind, { search: '?redirect=/settings/providers' });
      expect(pathOf(foyer, await complete(browser, kind, second, who))).toBe('/settings/providers');
      expect(pathOf(foyer, await complete(browser, kind, first, who))).toBe('/settings/name');
      expect((await browser.get('/settings/name')).status).toBe(200);
    },
  );
});
