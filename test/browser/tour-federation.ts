import type { Page } from 'playwright-core';
import { translator } from '../../sandbox/texts.ts';
import type { Language } from '../../server/http/index.ts';
import { comeBy } from '../sign-in/provider-steps.ts';
import type { Browser } from '../support/browser.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { toProviderId } from '../support/ids.ts';
import { startProviders, type TestProviders } from '../support/providers.ts';
import { relyingParty } from '../support/relying-party.ts';
import { answerXml, arrive, beginSaml, inBase64, pathOf, postFromElsewhere } from '../support/saml.ts';
import { anyBackend } from '../support/stores.ts';
import type { Stop } from './tour.ts';
import { visit as visitPage } from './visit.ts';

/** A Foyer to which many providers lead, and those who stand in for them. */
export interface FederatedHouse {
  foyer: TestFoyer;
  providers: TestProviders;
  close(): Promise<void>;
}

const mark = (colour: string) =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 20 20"><path fill="${colour}" d="M10 1l9 16H1z"/></svg>`;

export async function openFederatedHouse(): Promise<FederatedHouse> {
  const providers = await startProviders();
  providers.write('acme.svg', mark('#b3402e'));
  const foyer = await startFoyer(anyBackend, {
    ...providers.environment((file) => {
      const [acme = {}, saml = {}] = file.providers;
      const byForm = { ...saml, id: 'by-form', name: 'Rheinische Stadtwerke' };
      const long = { ...acme, id: 'long', name: 'Versicherungskammer Niederösterreich-Burgenland', domains: [] };
      return {
        ...file,
        providers: [
          { ...acme, logo: 'acme.svg' },
          { ...saml, idpInitiated: true },
          { ...long, issuer: `${providers.url}/long` },
          { ...byForm, entityId: 'https://id.stadtwerke.example', domains: [], requestBinding: 'post' },
        ],
      };
    }),
    GUESS_LIMIT_ADDRESS: '100000',
    PASSWORD_LIMIT_DEVICE: '100000',
    PASSWORD_LIMIT_MEMBER: '100000',
  });
  return {
    foyer,
    providers,
    async close() {
      await foyer.close();
      await providers.close();
    },
  };
}

const instagram =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 Mobile/15E148 Instagram 330.0';

/** The doors that providers open: on the pages for signing in and up, and where a member shows again who they are. */
export function federationStops({
  house,
  become,
}: {
  house(): Promise<FederatedHouse>;
  become(page: Page, browser: Browser, at: string): Promise<unknown>;
}): Stop[] {
  const at = (path: string) => async (page: Page) => visitPage(page, (await house()).foyer.url + path);
  /** A member by Google, who has no password. */
  const comeByGoogle = async (page: Page) => {
    const { foyer, providers } = await house();
    const browser = foyer.browser();
    const email = `vera${Date.now()}@a-rather-long-domain.example`;
    providers.answerAs({ ...providers.people.google.vera, email }, 'google');
    await comeBy(browser, '/federation/google');
    await become(page, browser, foyer.url);
  };
  /** A browser that came by a user name of a member, with another address and another name. */
  const comeByReusedName = async () => {
    const { foyer, providers } = await house();
    const user = await foyer.addUser({ email: `ada${Date.now()}@a-rather-long-domain.example` });
    const subject = `user-${user.id}`;
    const link = { id: user.id, userId: user.id, kind: 'saml', issuer: providers.saml.entityId, subject } as const;
    const row = { ...link, provider: toProviderId('acme-saml'), email: user.email, name: 'Ada Lovelace', linkedAt: 1 };
    const { db } = foyer.stores.database;
    await db
      .insertInto('federatedIdentities')
      .values({ ...row, lastUsedAt: null })
      .execute();
    const attempt = await beginSaml(foyer);
    const mail = 'vera.lindqvist-van-der-meulen@corp.acme.example';
    const xml = await answerXml(providers, attempt, {
      nameId: subject,
      nameIdFormat: 'urn:oasis:names:tc:SAML:1.1:nameid-format:unspecified',
      attributes: { mail, givenName: 'Vera', sn: 'Lindqvist-van der Meulen' },
    });
    await arrive(foyer, attempt, xml);
    return { user, browser: attempt.browser };
  };
  return [
    { name: 'sign-in by providers', open: at('/') },
    {
      name: 'sign-in by providers, all of them',
      async open(page) {
        await at('/#federation:sign-up-closed/long')(page);
        await page.locator('summary').click();
      },
    },
    {
      name: 'sign-in by providers, one is not set up',
      open: at('/#federation:not-set-up/long'),
    },
    {
      name: 'sign-in by providers, a link is offered',
      open: at('/?redirect=/federation/link#federation:offer/google'),
    },
    {
      name: 'sign-in by providers, inside another app',
      async open(page) {
        await page.route('**/*', async (route) =>
          route.continue({ headers: { ...(await route.request().allHeaders()), 'user-agent': instagram } }),
        );
        await at('/')(page);
      },
    },
    {
      name: 'sign-in by the provider that a client app asks for',
      async open(page) {
        const { foyer } = await house();
        const client = await relyingParty(foyer, await foyer.addClient({ name: 'Marketplace for Insurance Brokers' }));
        // Only a signed-in user sees the page; a visitor is redirected to the provider.
        await become(page, await foyer.signedIn(await foyer.addUser()), foyer.url);
        await page.goto((await client.begin({ identity_provider: 'long', prompt: 'login' })).url);
      },
    },
    { name: 'sign-up by providers', open: at('/signup') },
    {
      name: 'going on to a provider',
      async open(page: Page, lang: Language) {
        const { providers } = await house();
        // The navigation never happens, so that the page stays.
        await page.route(`${providers.url}/**`, (route) => route.abort('aborted'));
        await at('/')(page);
        await page.getByRole('button', { name: 'Google' }).click();
        await page
          .getByRole('heading', {
            level: 1,
            name: translator(lang)('common.redirect.toProvider', { providerName: 'Google' }),
          })
          .waitFor();
      },
    },
    {
      name: 'a request to a provider by a form',
      async open(page) {
        // The page does not submit itself, so that it stays, and shows its button after some seconds.
        await page.addInitScript(() => {
          if (location.pathname.endsWith('/request')) HTMLFormElement.prototype.submit = () => {};
        });
        await at('/')(page);
        await page.locator('summary').click();
        await page.getByRole('button', { name: 'Rheinische Stadtwerke' }).click();
        await page.locator('main form button').waitFor();
      },
    },
    {
      name: 'a link that is offered',
      async open(page) {
        const { foyer, providers } = await house();
        const user = await foyer.addUser({ email: `vera${Date.now()}@a-rather-long-domain.example` });
        const browser = foyer.browser();
        providers.answerAs({ ...providers.people.google.vera, email: user.email }, 'google');
        await comeBy(browser, '/federation/google');
        await browser.post('/sign-in', { username: user.email, password });
        await become(page, browser, foyer.url);
        await at('/federation/link')(page);
        await page.locator('button[value="link"]').waitFor();
      },
    },
    {
      name: 'a user name that may have been given to another person',
      async open(page) {
        const { browser } = await comeByReusedName();
        const { foyer } = await house();
        await become(page, browser, foyer.url);
        await at('/federation/link/account')(page);
        await page.locator('button[value="mine"]').waitFor();
      },
    },
    {
      name: 'sign-in by providers, an account is to be proven',
      open: at('/?redirect=/federation/link#federation:prove/acme-saml'),
    },
    {
      name: 'a link that is kept',
      async open(page) {
        const { browser, user } = await comeByReusedName();
        const { foyer } = await house();
        await browser.post('/sign-in', { username: user.email, password });
        await become(page, browser, foyer.url);
        await at('/federation/link')(page);
        await page.locator('button[value="link"]').waitFor();
      },
    },
    {
      name: 'a second step that is demanded',
      async open(page) {
        const { foyer } = await house();
        const user = await foyer.addUser();
        const { db } = foyer.stores.database;
        await db.updateTable('users').set({ secondFactorRequired: 1 }).where('id', '=', user.id).execute();
        await become(page, await foyer.signedIn(user), foyer.url);
        await at('/settings')(page);
        await page.locator('input[value="totp"]').waitFor();
      },
    },
    {
      name: 'a sign-in by SAML that nobody asked for',
      async open(page) {
        const { foyer, providers } = await house();
        const path = '/federation/acme-saml';
        const request = { id: null, acsUrl: `${foyer.url}${path}/acs`, app: `${foyer.url}${path}/metadata` };
        const xml = await providers.samlResponse(providers.saml.usual(providers.people.saml.vera, request));
        const to = await postFromElsewhere(foyer, `${path}/acs`, { SAMLResponse: inBase64(xml) });
        await at(pathOf(to))(page);
        await page.locator('input[name="ticket"]').waitFor({ state: 'attached' });
      },
    },
    {
      name: 'sign-out of a member by a provider',
      async open(page) {
        await comeByGoogle(page);
        await at('/logout')(page);
      },
    },
    {
      name: 're-authenticate by a provider',
      async open(page) {
        await comeByGoogle(page);
        await at('/re-authenticate#federation:not-yours/google')(page);
      },
    },
  ];
}
