import type { Browser } from '../support/browser.ts';
import { locationOf } from '../support/browser.ts';
import type { ForeignApp, ForeignClient } from './foreign-app.ts';
import { readJson } from './member-acts.ts';

const node = (script: string) => () => [process.execPath, script];

/** A call as the client library of a page makes it. */
const callByPage = (browser: Browser, app: ForeignApp, [path, body]: [path: string, body: object]) =>
  browser.postJson(app.url + path, body, { origin: app.url });

/** The libraries for servers on Node. */
export const npmClients: readonly ForeignClient[] = [
  { name: 'openid-client 6', command: node('openid-client-6.mjs'), refreshes: true, validates: true },
  {
    name: 'openid-client 5',
    command: node('openid-client-5.mjs'),
    refreshes: true,
    validates: true,
  },
  { name: 'oauth4webapi', command: node('oauth4webapi.mjs'), refreshes: true, validates: true },
  { name: 'arctic', command: node('arctic.mjs'), refreshes: true },
  {
    name: '@auth/express',
    command: node('auth-express.mjs'),
    callback: '/auth/callback/foyer',
    validates: true,
    async begin(browser, app) {
      const answer = await readJson(app, await browser.get(`${app.url}/auth/csrf`));
      const csrfToken = String(Object(answer).csrfToken);
      const fields = { csrfToken, callbackUrl: `${app.url}/me` };
      return locationOf(await browser.post(`${app.url}/auth/signin/foyer`, fields, { origin: app.url }));
    },
  },
  {
    name: 'better-auth genericOAuth',
    command: node('better-auth.mjs'),
    callback: '/api/auth/callback/foyer',
    refreshes: true,
    async begin(browser, app) {
      const body = { provider: 'foyer', callbackURL: `${app.url}/me` };
      const answer = await readJson(app, await callByPage(browser, app, ['/api/auth/sign-in/social', body]));
      return String(Object(answer).url);
    },
    async signOut(browser, app) {
      const answer = await readJson(app, await callByPage(browser, app, ['/api/auth/sign-out', {}]));
      return String(Object(answer).url);
    },
  },
  {
    name: 'express-openid-connect',
    command: node('express-openid-connect.mjs'),
    begin: '/login',
    signOut: '/logout',
    goodbye: '',
    backChannel: '/backchannel-logout',
    refreshes: true,
    validates: true,
  },
  { name: 'grant', command: node('grant.mjs'), callback: '/connect/foyer/callback', begin: '/connect/foyer' },
  { name: 'passport-openidconnect', command: node('passport-openidconnect.mjs'), register: { pkceOptional: true } },
  { name: '@badgateway/oauth2-client', command: node('badgateway.mjs'), refreshes: true },
  { name: 'simple-oauth2', command: node('simple-oauth2.mjs'), refreshes: true },
];
