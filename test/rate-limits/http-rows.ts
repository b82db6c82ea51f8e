import type { RateLimits } from '../../server/http/index.ts';
import { setMfaPreference, type User } from '../../server/users/index.ts';
import { askForEmail, askForPhone, fresh, showEmailCode, showPhoneCode } from '../account/contact/steps.ts';
import { service } from '../api/callers.ts';
import { ask, submit } from '../password/steps.ts';
import {
  giveRecoveryCodes,
  giveTotp,
  memberWithSms,
  memberWithTotp,
  show,
  toChallenge,
} from '../sign-in/factor-steps.ts';
import { newAddress, profile } from '../sign-up/steps.ts';
import { type Browser, locationOf } from '../support/browser.ts';
import { password, type TestFoyer } from '../support/foyer.ts';
import { limitsWith } from '../support/limits.ts';
import { sendRequest } from '../support/send-request.ts';

export const limits = limitsWith({});
/** The address of a test as the product sees it. */
export const address = '127.0.0.1';

interface Reached {
  /** The value that is counted. */
  value: string;
  send(): Promise<Response>;
}

export interface Row {
  limit: keyof RateLimits;
  /** The number of the counter within the limit. */
  at?: number;
  /** Brings a browser to where one request is counted. */
  reach(foyer: TestFoyer): Promise<Reached> | Reached;
  /** The end of the redirect that answers a refused try, for the rows that are not answered with 429. */
  notice?: string;
}

/** A member in a browser that the account knows; `device` is the id that the browser's cookie holds. */
async function atHome(foyer: TestFoyer): Promise<{ user: User; browser: Browser; device: string }> {
  const user = await foyer.addUser();
  const browser = await foyer.signedIn(user);
  const [, device = ''] = ((await browser.cookies()).foyer_device ?? '').split('.');
  expect(device).not.toBe('');
  return { user, browser, device };
}

/** A challenge of a member with an authenticator app, in a browser that the account knows or does not know. */
async function atChallenge(foyer: TestFoyer) {
  const { user } = await memberWithTotp(foyer);
  const browser = foyer.browser();
  await toChallenge(browser, user);
  return { user, browser };
}

export const post = (foyer: TestFoyer, path: string, fields: Record<string, string>) =>
  sendRequest(foyer.url + path, { method: 'POST', body: new URLSearchParams(fields), redirect: 'manual' });

/** A request for every limit that HTTP reaches. */
export const rows: Row[] = [
  {
    limit: 'passwordGuess',
    reach: (foyer) => ({
      value: address,
      send: () => foyer.browser().post('/sign-in', { username: newAddress(), password: 'wrong' }),
    }),
  },
  {
    limit: 'resetCode',
    reach: (foyer) => ({
      value: address,
      send: () => foyer.browser().post('/forgot-password', { username: newAddress() }),
    }),
  },
  {
    limit: 'knownDeviceResetCode',
    async reach(foyer) {
      const { user, browser, device } = await atHome(foyer);
      return { value: device, send: () => browser.post('/forgot-password', { username: user.email }) };
    },
  },
  {
    limit: 'resetCodeGuess',
    async reach(foyer) {
      const [{ email }, browser] = [await foyer.addUser(), foyer.browser()];
      await ask(browser, email);
      return { value: address, send: () => submit(browser, email, '123456') };
    },
  },
  {
    limit: 'knownDeviceResetCodeGuess',
    async reach(foyer) {
      const { user, browser, device } = await atHome(foyer);
      await ask(browser, user.email);
      return { value: device, send: () => submit(browser, user.email, '123456') };
    },
  },
  {
    limit: 'signInCodeGuess',
    async reach(foyer) {
      const [{ email }, browser] = [await foyer.addUser(), foyer.browser()];
      const { key, max } = limits.passwordGuess.counters[2] ?? { key: '', max: 0 };
      await foyer.deps.kv.consumeCount(key, 60_000, max);
      expect(locationOf(await browser.post('/sign-in', { username: email, password }))).toContain('/sign-in/code');
      await foyer.deps.kv.delete(key);
      return { value: address, send: () => browser.post('/sign-in/code', { code: '123456' }) };
    },
  },
  {
    limit: 'mfaCodeGuess',
    async reach(foyer) {
      const { browser } = await atChallenge(foyer);
      return { value: address, send: () => show(browser, '123456') };
    },
  },
  {
    limit: 'mfaCodeGuess',
    at: 2,
    async reach(foyer) {
      const { browser, user } = await atChallenge(foyer);
      return { value: user.id, send: () => show(browser, '123456') };
    },
  },
  {
    limit: 'knownDeviceMfaCodeGuess',
    async reach(foyer) {
      const { user, browser, device } = await atHome(foyer);
      await giveTotp(foyer, user);
      await browser.post('/logout');
      await toChallenge(browser, user);
      return { value: `${device}:${user.id}`, send: () => show(browser, '123456') };
    },
  },
  {
    limit: 'recoveryCodeGuess',
    async reach(foyer) {
      const { browser, user } = await atChallenge(foyer);
      const [code = ''] = await giveRecoveryCodes(foyer, user);
      const wrong = code.replace(/^./, (first) => (first === 'A' ? 'B' : 'A'));
      return { value: address, send: () => show(browser, wrong, { method: 'recovery' }) };
    },
  },
  {
    limit: 'emailChangeCode',
    async reach(foyer) {
      const { user, browser } = await atHome(foyer);
      return { value: user.id, send: () => askForEmail(browser, fresh().email) };
    },
  },
  {
    limit: 'emailChangeGuess',
    async reach(foyer) {
      const { user, browser } = await atHome(foyer);
      await askForEmail(browser, fresh().email);
      return { value: user.id, send: () => showEmailCode(browser, '123456') };
    },
  },
  {
    limit: 'phoneChangeGuess',
    async reach(foyer) {
      const { user, browser } = await atHome(foyer);
      await askForPhone(browser, fresh().phone);
      return { value: user.id, send: () => showPhoneCode(browser, '123456') };
    },
  },
  {
    limit: 'signUp',
    reach: (foyer) => ({ value: address, send: () => foyer.browser().post('/signup', profile(newAddress())) }),
  },
  {
    limit: 'partnerDealCheck',
    reach: (foyer) => ({
      value: address,
      send: () => foyer.browser().get(`/signup?${new URLSearchParams({ from: 'appsumo', email: newAddress() })}`),
    }),
  },
  {
    limit: 'pushedRequest',
    reach: (foyer) => ({ value: address, send: () => post(foyer, '/oauth2/par', {}) }),
  },
  {
    limit: 'deviceRequest',
    reach: (foyer) => ({ value: address, send: () => post(foyer, '/oauth2/device_authorization', {}) }),
  },
  {
    limit: 'authorizationRequest',
    reach: (foyer) => ({ value: address, send: () => foyer.browser().get('/oauth2/authorize?client_id=none') }),
  },
  {
    limit: 'federationAttempt',
    reach: (foyer) => ({ value: address, send: () => foyer.browser().post('/federation/google') }),
    notice: 'federation:too-many',
  },
  {
    limit: 'companyFederationAttempt',
    reach: (foyer) => ({ value: address, send: () => foyer.browser().post('/federation/acme-oidc') }),
    notice: 'federation:too-many',
  },
  {
    limit: 'unsolicitedSamlResponse',
    reach: (foyer) => ({
      value: address,
      send: () => foyer.browser().post('/federation/acme-saml/acs', { SAMLResponse: 'none' }),
    }),
    notice: 'federation:too-many',
  },
  {
    limit: 'upstreamLogoutPost',
    reach: (foyer) => ({
      value: address,
      send: () => post(foyer, '/federation/acme-saml/logout', { SAMLRequest: 'none' }),
    }),
  },
  {
    limit: 'settingsForm',
    at: 1,
    async reach(foyer) {
      const { user, browser } = await atHome(foyer);
      return { value: user.id, send: () => showEmailCode(browser, '123456') };
    },
  },
  {
    limit: 'confirmedNumberSms',
    async reach(foyer) {
      const { user } = await memberWithSms(foyer);
      await foyer.deps.database.transaction((trx) =>
        setMfaPreference(trx, user.id, { preference: 'none', nowMs: foyer.deps.now() }),
      );
      const browser = await foyer.signedIn(user);
      return { value: `proven:${user.id}`, send: () => browser.post('/settings/mfa/sms') };
    },
  },
  {
    limit: 'publicApiCall',
    reach: (foyer) => ({
      value: `signUp:${address}`,
      send: () => post(foyer, '/identity/signUp', {}),
    }),
  },
  {
    limit: 'apiCallForVisitors',
    async reach(foyer) {
      const { id, token } = await service(foyer, ['visitors:act-for']);
      const headers = { authorization: `Bearer ${token}`, 'foyer-visitor-address': '198.51.100.7' };
      return {
        value: `client:${id}`,
        send: () => sendRequest(`${foyer.url}/identity/signUp`, { method: 'POST', headers, body: '{}' }),
      };
    },
  },
];
