import { randomUUID } from 'node:crypto';
import type { Page } from 'playwright-core';
import { translator } from '../../sandbox/texts.ts';
import type { Language } from '../../server/http/index.ts';
import type { User } from '../../server/users/index.ts';
import { openShop, type Shop } from '../checkout/shop.ts';
import { ask, resetPath } from '../password/steps.ts';
import { begin, newAddress, newPassword } from '../sign-up/steps.ts';
import { Browser, locationOf } from '../support/browser.ts';
import { password } from '../support/foyer.ts';
import { type RelyingParty, relyingParty } from '../support/relying-party.ts';
import { sendRequest } from '../support/send-request.ts';
import type { Sandbox } from './sandbox.ts';
import { andLoad, askToSignIn, atHome, enterCode, fillProfile, submitSignIn } from './steps.ts';
import { checkoutStops } from './tour-checkout.ts';
import { checkoutWordsStops } from './tour-checkout-words.ts';
import { connectedAppStops } from './tour-connected-apps.ts';
import { contactStops } from './tour-contact.ts';
import { dashboardStops } from './tour-dashboard.ts';
import { deviceCodeStops } from './tour-device-codes.ts';
import { deviceStops } from './tour-devices.ts';
import { type FederatedHouse, federationStops, openFederatedHouse } from './tour-federation.ts';
import { importedStops } from './tour-imported.ts';
import { leavingStops } from './tour-leaving.ts';
import { linkedStops } from './tour-linked.ts';
import { mailedCodeStops } from './tour-mailed-code.ts';
import { membershipStops } from './tour-membership.ts';
import { mfaSettingsStops } from './tour-mfa-settings.ts';
import { notificationStops } from './tour-notifications.ts';
import { passkeyStops } from './tour-passkeys.ts';
import { paymentStops } from './tour-payment.ts';
import { secondFactorStops } from './tour-second-factor.ts';
import { settingsStops } from './tour-settings.ts';

/** One page in one of its states, and the way there for a browser that has been nowhere yet. */
export interface Stop {
  name: string;
  /** The page of another stop but for its words: it is taken as a picture, and not measured once more. */
  otherWords?: true;
  open(page: Page, lang: Language): Promise<unknown>;
}

/** What the tour needs beside the sandbox itself. */
export interface TourGuide {
  sandbox: Sandbox;
  /** A client app that is not the marketplace's own. */
  thirdPartyUrl: string;
  /** A client app of the marketplace, on a server, that changes credentials and buys. */
  desk: RelyingParty;
  /** A house that sells plans; it opens when it is first asked for. */
  shop(): Promise<Shop>;
  /** A house to which many providers lead; likewise. */
  federated(): Promise<FederatedHouse>;
  /** With the sandbox. */
  close(): Promise<void>;
}

const deskScope = 'openid account account:security account:payments';

export async function prepareTour(sandbox: Sandbox): Promise<TourGuide> {
  const desk = await sandbox.foyer.addClient({ id: 'desk', name: 'Member Desk', scopes: deskScope.split(' ') });
  let opened: Promise<Shop> | undefined;
  let federated: Promise<FederatedHouse> | undefined;
  return {
    sandbox,
    shop() {
      opened ??= openShop();
      return opened;
    },
    federated() {
      federated ??= openFederatedHouse();
      return federated;
    },
    async close() {
      await (await opened)?.close();
      await (await federated)?.close();
      await sandbox.close();
    },
    thirdPartyUrl: await sandbox.addApp({
      id: 'orchard',
      name: 'Orchard Analytics',
      thirdParty: true,
      scopes: ['openid', 'profile', 'email', 'phone', 'membership'],
    }),
    desk: await relyingParty(sandbox.foyer, desk, deskScope),
  };
}

const storage = /\/storage(\?|$)/;
const resume = /\/oauth2\/authorize\/./;

/** Every page of the product, each in all its states. */
export function tour(guide: () => TourGuide): Stop[] {
  const url = () => guide().sandbox.foyer.url;
  const demoUrl = () => guide().sandbox.demoUrl;
  const newMember = (terms = true) =>
    guide().sandbox.foyer.addUser({
      givenName: 'Vera',
      familyName: 'Lindqvist',
      ...(!terms && { acceptedTosVersion: null }),
    });
  const submit = async (page: Page, lang: Language) =>
    submitSignIn(page, { email: (await newMember()).email, password }, translator(lang));
  /** The page goes on where this visitor is, who has sent the product's forms without drawing them. */
  const become = async (page: Page, { jar }: Browser, at = url()) => {
    const cookies = await jar.getCookies(at);
    await page
      .context()
      .addCookies(cookies.map(({ key, value }) => ({ name: key, value, domain: 'localhost', path: '/' })));
  };
  /** A new member has signed in with this browser. */
  const signIn = async (page: Page, member?: User) =>
    become(page, await guide().sandbox.foyer.signedIn(member ?? (await newMember())));
  const visitor = (lang: Language) => new Browser(url(), { 'accept-language': lang });
  const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name }).waitFor();
  const atConsent = async (page: Page, lang: Language) => {
    const t = translator(lang);
    await signIn(page);
    await page.goto(`${guide().thirdPartyUrl}/sign-in`);
    await heading(page, t('oauth.consent.title', { clientName: 'Orchard Analytics' }));
  };
  const atTerms = async (page: Page, lang: Language) => {
    await signIn(page, await newMember(false));
    await page.goto(`${url()}/tos`);
    await page.getByRole('button', { name: translator(lang)('terms.accept') }).waitFor();
  };
  /** Answers to whom. */
  const sendCode = async (lang: Language) => {
    const { foyer } = guide().sandbox;
    const to = `${lang}.${randomUUID()}@a-rather-long-domain.example`;
    const values = { givenName: 'Vera', code: '493027', minutes: 10 };
    await foyer.deps.database.transaction((trx) =>
      foyer.deps.outbox.add(trx, { channel: 'mail', to, template: 'verify-email', lang, values }),
    );
    await foyer.mails(to);
    return to;
  };
  const at = (path: string) => async (page: Page) => {
    await page.goto(url() + path);
  };

  /** Of a request of another browser: the query of its pages. */
  const begunElsewhere = async () => {
    const query = new URLSearchParams({
      response_type: 'code',
      client_id: 'demo-app',
      scope: 'openid',
      redirect_uri: `${demoUrl()}/callback`,
      code_challenge: 'x'.repeat(43),
      code_challenge_method: 'S256',
    });
    return new URL(locationOf(await new Browser(url()).get(`/oauth2/authorize?${query}`))).search;
  };

  const atCode = async (page: Page, lang: Language) => {
    const [email, browser] = [newAddress(), visitor(lang)];
    await begin(guide().sandbox.foyer, browser, email);
    await become(page, browser);
    await page.goto(`${url()}/signup/emailCaptured`);
    await heading(page, translator(lang)('signUp.code.heading'));
    return email;
  };

  const askForCode = async (page: Page, lang: Language) => {
    const t = translator(lang);
    const [{ email }, browser] = [await newMember(), visitor(lang)];
    await ask(browser, email);
    await become(page, browser);
    await page.goto(url() + resetPath(email));
    await page.getByLabel(t('password.reset.code')).waitFor();
  };

  return [
    { name: 'sign-in', open: at('/') },
    { name: 'sign-in for an app', open: (page, lang) => askToSignIn(page, demoUrl(), translator(lang)) },
    {
      name: 'sign-in with empty fields',
      async open(page, lang) {
        await page.goto(url());
        await andLoad(page, () =>
          page.getByRole('button', { name: translator(lang)('signIn.submit'), exact: true }).click(),
        );
        await page.locator('.field-error').first().waitFor();
      },
    },
    {
      name: 'sign-in refused',
      async open(page, lang) {
        await page.goto(url());
        await submitSignIn(page, { email: 'vera@example.com', password: 'not the password' }, translator(lang));
        await page.getByRole('alert').waitFor();
      },
    },
    { name: 'sign-in after a reset', open: at('/?notice=password-reset') },
    { name: 'forgot password', open: at('/forgot-password') },
    {
      name: 'forgot password refused',
      async open(page, lang) {
        const t = translator(lang);
        await page.goto(`${url()}/forgot-password`);
        await page.getByLabel(t('password.request.username')).fill('nobody@example.com');
        await page.getByRole('button', { name: t('password.request.submit') }).click();
        await page.getByRole('alert').waitFor();
      },
    },
    { name: 'reset password', open: askForCode },
    {
      name: 'reset password refused',
      async open(page, lang) {
        const t = translator(lang);
        await askForCode(page, lang);
        await page.getByLabel(t('password.reset.code')).fill('123456');
        await page.getByLabel(t('password.reset.newPassword'), { exact: true }).fill(newPassword);
        await page.getByLabel(t('password.reset.confirmPassword')).fill('another one 7');
        await page.getByRole('button', { name: t('password.reset.submit') }).click();
        await page.getByRole('alert').waitFor();
      },
    },
    { name: 'reset password in another browser', open: at('/reset-password?username=vera@example.com') },
    { name: 'sign-up', open: at('/signup') },
    {
      name: 'sign-up refused',
      async open(page, lang) {
        await page.goto(`${url()}/signup`);
        await fillProfile(page, { email: 'vera@', password: 'vera' }, translator(lang));
        await page.locator('.field-error').first().waitFor();
      },
    },
    {
      name: 'sign-up begun',
      async open(page, lang) {
        await atCode(page, lang);
        await page.goto(`${url()}/signup`);
      },
    },
    { name: 'sign-up code', open: atCode },
    {
      name: 'sign-up code refused',
      async open(page, lang) {
        await atCode(page, lang);
        await page.locator('[name=code]').fill('000000');
        await andLoad(page, () => page.getByRole('button', { name: translator(lang)('signUp.code.confirm') }).click());
        await page.locator('.field-error').waitFor();
      },
    },
    {
      name: 'sign-up confirmed',
      async open(page, lang) {
        const email = await atCode(page, lang);
        // It would go on by itself.
        await page.route(/\/redirect-/, (route) => route.abort('aborted'));
        await enterCode(page, guide().sandbox.foyer, email, translator(lang));
      },
    },
    {
      name: 'verify-code',
      async open(page, lang) {
        const member = await guide().sandbox.foyer.addUser({ emailVerified: false });
        await become(page, await guide().sandbox.foyer.signedIn(member));
        await page.goto(`${url()}/verify-code`);
        await heading(page, translator(lang)('signUp.code.heading'));
      },
    },
    { name: 'sign-in after the request expired', open: at('/?authorization_code=long-gone') },
    {
      name: 'verify-user',
      async open(page, lang) {
        // Never answered.
        await page.route(storage, () => {});
        await askToSignIn(page, demoUrl(), translator(lang));
        await submit(page, lang);
        await heading(page, translator(lang)('oauth.verify.title'));
      },
    },
    {
      name: 'verify-user failed',
      async open(page, lang) {
        await page.route(storage, (route) => route.fulfill({ json: { status: 503 } }));
        await askToSignIn(page, demoUrl(), translator(lang));
        await submit(page, lang);
        await page.getByRole('alert').waitFor();
      },
    },
    { name: 'consent', open: atConsent },
    {
      name: 'consent, with the membership',
      otherWords: true,
      async open(page, lang) {
        const { sandbox, thirdPartyUrl } = guide();
        await signIn(page);
        const asked = await sendRequest(`${thirdPartyUrl}/sign-in`, { redirect: 'manual' });
        const address = new URL(asked.headers.get('location') ?? sandbox.foyer.url);
        address.searchParams.set('scope', 'openid profile email membership');
        await page.goto(address.href);
        await heading(page, translator(lang)('oauth.consent.title', { clientName: 'Orchard Analytics' }));
      },
    },
    {
      name: 'consent, with credentials and the card',
      otherWords: true,
      async open(page, lang) {
        const { desk } = guide();
        await signIn(page);
        await page.goto((await desk.begin({ prompt: 'consent' })).url);
        await heading(page, translator(lang)('oauth.consent.title', { clientName: 'Member Desk' }));
      },
    },
    {
      name: 'going on to an app',
      async open(page, lang) {
        const t = translator(lang);
        await atConsent(page, lang);
        // The navigation never happens, so that the page stays.
        await page.route(resume, (route) => route.abort('aborted'));
        await page.getByRole('button', { name: t('oauth.consent.allow') }).click();
        await heading(page, t('common.redirect.titleTo', { clientName: 'Orchard Analytics' }));
      },
    },
    {
      name: 'sign-out question',
      async open(page, lang) {
        await signIn(page);
        const query = new URLSearchParams({
          response_type: 'code',
          client_id: 'demo-app',
          redirect_uri: `${demoUrl()}/callback`,
          code_challenge: 'x'.repeat(43),
          code_challenge_method: 'S256',
        });
        await page.goto(`${url()}/logout?${query}`);
        await page.getByText(translator(lang)('oauth.signOut.switches', { clientName: 'Demo app' })).waitFor();
      },
    },
    {
      name: 'sign-in after the session has ended',
      async open(page) {
        await page.context().addCookies([{ name: 'foyer_session', value: 'ended', url: url() }]);
        await page.goto(`${url()}/?redirect=/settings`);
      },
    },
    {
      name: 'password changed before the terms are accepted',
      async open(page) {
        await become(page, await guide().sandbox.foyer.signedIn(await newMember(false)));
        await page.goto(`${url()}/settings/password?notice=done`);
      },
    },
    { name: 'terms to read', open: at('/tos') },
    { name: 'imprint', open: at('/imprint') },
    { name: 'terms to accept', open: atTerms },
    {
      name: 'terms declined',
      async open(page, lang) {
        const t = translator(lang);
        await atTerms(page, lang);
        await page.getByRole('button', { name: t('terms.decline') }).click();
        await page.getByText(t('terms.TERMS_OF_SERVICE_MESSAGE_DECLINE')).waitFor();
      },
    },
    ...secondFactorStops({ foyer: () => guide().sandbox.foyer, signIn }),
    ...settingsStops({ foyer: () => guide().sandbox.foyer, signIn }),
    ...passkeyStops({ foyer: () => guide().sandbox.foyer, signIn }),
    ...mfaSettingsStops({ foyer: () => guide().sandbox.foyer, signIn }),
    ...contactStops({ foyer: () => guide().sandbox.foyer, signIn }),
    ...membershipStops({ shop: () => guide().shop(), become }),
    ...checkoutStops({ shop: () => guide().shop(), become }),
    ...checkoutWordsStops({ shop: () => guide().shop(), become }),
    ...paymentStops({ shop: () => guide().shop(), become }),
    ...dashboardStops({ shop: () => guide().shop(), become }),
    ...federationStops({ house: () => guide().federated(), become }),
    ...linkedStops({ house: () => guide().federated(), become }),
    ...connectedAppStops({ house: () => guide().federated(), become }),
    ...importedStops({ foyer: () => guide().sandbox.foyer }),
    ...mailedCodeStops({ foyer: () => guide().sandbox.foyer }),
    ...leavingStops({ foyer: () => guide().sandbox.foyer, signIn }),
    ...deviceStops({ foyer: () => guide().sandbox.foyer, signIn }),
    ...notificationStops({ foyer: () => guide().sandbox.foyer, signIn }),
    ...deviceCodeStops({ foyer: () => guide().sandbox.foyer, signIn }),
    { name: '404', open: at('/no-such-page') },
    { name: '404 of settings', open: at('/settings/no-such-page') },
    { name: 'error', open: at('/oauth2/authorize?client_id=nobody') },
    {
      name: 'request begun elsewhere',
      async open(page) {
        await page.goto(`${url()}/begin-again${await begunElsewhere()}`);
      },
    },
    {
      name: 'sign-in after a request begun elsewhere',
      async open(page) {
        await page.goto(`${url()}/${await begunElsewhere()}`);
      },
    },
    {
      name: 'search app stand-in',
      async open(page) {
        await signIn(page);
        await page.goto(url());
      },
    },
    {
      name: 'profile menu',
      async open(page) {
        await signIn(page);
        await page.goto(url());
        // By key: where the pointer is closes it again.
        await page.locator('summary').press('Enter');
        await page.locator('.menu-panel').waitFor();
      },
    },
    ...['main', 'account', 'parts'].map((name) => ({
      name: name === 'parts' ? 'page of parts' : `${name} app stand-in`,
      async open(page: Page) {
        await signIn(page);
        await page.goto(`${url()}/sandbox/${name}`);
      },
    })),
    {
      name: 'mailbox',
      async open(page, lang) {
        await sendCode(lang);
        await page.goto(`${url()}/sandbox/mailbox`);
      },
    },
    { name: 'mailbox with nothing', open: at('/sandbox/mailbox?to=nobody@example.com') },
    {
      name: 'message in the mailbox',
      async open(page, lang) {
        await page.goto(`${url()}/sandbox/mailbox?to=${await sendCode(lang)}`);
        await page.locator('.messages a').first().click();
        await page.locator('iframe').waitFor();
      },
    },
    { name: 'all mails', open: at('/sandbox/mails') },
    {
      name: 'demo app',
      async open(page) {
        await page.goto(demoUrl());
      },
    },
    {
      name: 'demo television',
      async open(page, lang) {
        const t = translator(lang);
        const television = /\/television$/;
        // It would load itself again.
        await page.route(television, async (route) => {
          const answer = await route.fetch({ maxRedirects: 0 });
          const { refresh: _, ...headers } = answer.headers();
          await route.fulfill({ response: answer, headers });
        });
        await page.goto(`${demoUrl()}/television`);
        const button = page.getByRole('button', {
          name: new RegExp([t('sandbox.television.ask'), t('sandbox.television.newCode')].join('|')),
        });
        await andLoad(page, () => button.click());
        await heading(page, t('sandbox.television.codeTitle'));
      },
    },
    {
      name: 'demo app signed in',
      async open(page, lang) {
        await signIn(page);
        await page.goto(`${demoUrl()}/sign-in`);
        await atHome(page, 'Vera Lindqvist', translator(lang));
      },
    },
    {
      name: 'demo app refused',
      async open(page, lang) {
        await atConsent(page, lang);
        await page.getByRole('button', { name: translator(lang)('oauth.consent.deny') }).click();
        await page.getByRole('alert').waitFor();
      },
    },
  ];
}
