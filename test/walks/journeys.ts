import { appCode } from '../account/mfa-steps.ts';
import { confirmCard, readCardForm } from '../billing/checkout/card-steps.ts';
import { mainForm, type Shop } from '../billing/checkout/shop.ts';
import { somebody } from '../federation/steps.ts';
import { type Browser, locationOf } from '../support/browser.ts';
import { password } from '../support/foyer.ts';
import { formFieldsOf } from '../support/provider-forms.ts';
import type { TestProviders } from '../support/providers.ts';
import { type RelyingParty, refreshOf } from '../support/relying-party.ts';
import { sendRequest } from '../support/send-request.ts';

/** Sends one request of a walk, and records it; the label has no values. */
export type Send = (label: string, request: () => Promise<Response>) => Promise<Response>;

export interface Setting {
  shop: Pick<Shop, 'foyer' | 'standIn'>;
  providers: TestProviders;
  client: RelyingParty & { secret: string };
}

/** The recorder of one walk, by the walk's name. */
export type Recorder = (walk: string) => Send;

/** Clicks and redirects must lead where the walk goes; another page would be another walk. */
function expectStatus(response: Response, status: number): Response {
  if (response.status === status) return response;
  throw new Error(`${response.url} answered ${response.status} ${response.headers.get('location') ?? ''}`);
}

/** The path to which a form leads. */
function redirectOf(response: Response): string {
  const { pathname, search } = new URL(locationOf(expectStatus(response, 303)));
  return pathname + search;
}

/** A new member buys a first plan: from the choice of a plan to the charge of a new card. */
async function purchase(browser: Browser, { standIn }: Setting['shop'], send: Send): Promise<void> {
  expectStatus(await send('GET /plan-purchase', () => browser.get('/plan-purchase')), 200);
  const choice = { act: 'choose', planId: '10' };
  const summary = redirectOf(await send('POST /plan-purchase', () => browser.submit('/plan-purchase', choice)));
  const shown = mainForm(await (await send('GET /plan-purchase/:planId', () => browser.get(summary))).text());
  const submit = () => browser.submit(shown.action, shown.fields);
  const payment = redirectOf(await send('POST /plan-purchase/:planId (without a card)', submit));
  const page = await send('GET /plan-purchase/:planId/addPayment', () => browser.get(payment));
  const { action, fields, setupUrl } = readCardForm(await page.text());
  // Stripe's fields for a card need a script in any case.
  const intent = await send('POST /plan-purchase/:planId/addPayment/setup', () => browser.postJson(setupUrl, {}));
  const { clientSecret } = (await expectStatus(intent, 200).json()) as { clientSecret: string };
  const setupIntent = confirmCard({ standIn }, clientSecret, '4242424242424242');
  const paid = await send('POST /plan-purchase/:planId/addPayment', () =>
    browser.submit(action, { ...fields, setupIntent }),
  );
  expectStatus(paid, 303);
}

/** The member changes to a plan that costs more, with the saved card. */
async function upgrade(browser: Browser, send: Send): Promise<void> {
  const page = await send('GET /plan-purchase/:planId', () => browser.get('/plan-purchase/12'));
  const { action, fields } = mainForm(await page.text());
  const paid = await send('POST /plan-purchase/:planId', () => browser.submit(action, fields));
  if (!redirectOf(paid).startsWith('/signup/completed/')) throw new Error(`the upgrade led to ${locationOf(paid)}`);
}

/** Sign-in with a password for a client app, in a browser that is known but has no session. @returns the callback */
async function signIn(browser: Browser, url: string, email: string, send: Send): Promise<string> {
  const authorize = await send('GET /oauth2/authorize', () => browser.get(url, { from: 'cross-site' }));
  const landing = locationOf(expectStatus(authorize, 303));
  expectStatus(await send('GET /', () => browser.get(landing, { from: 'cross-site' })), 200);
  const form = { username: email, password };
  const submit = () => browser.submit(`/sign-in${new URL(landing).search}`, form);
  const verify = redirectOf(await send('POST /sign-in', submit));
  const page = expectStatus(await send('GET /verify-user', () => browser.get(verify)), 200);
  const pending = formFieldsOf(await page.text());
  const bound = await send('POST /storage', () => browser.submit('/storage', pending));
  const resume = refreshOf(await expectStatus(bound, 200).text());
  const resumed = await send('GET /oauth2/authorize/:uid', () => browser.get(resume, { from: 'same-origin' }));
  const callback = locationOf(expectStatus(resumed, 303));
  if (!new URL(callback).searchParams.has('code')) throw new Error(`the sign-in led to ${callback}`);
  return callback;
}

/** The server of the client app redeems the code. */
async function exchangeCode(setting: Setting, callback: string, verifier: string, send: Send): Promise<void> {
  const { client, shop } = setting;
  const body = new URLSearchParams({
    grant_type: 'authorization_code',
    code: new URL(callback).searchParams.get('code') ?? '',
    redirect_uri: client.redirectUri,
    code_verifier: verifier,
  });
  const headers = { authorization: `Basic ${btoa(`${client.id}:${client.secret}`)}` };
  const tokens = await send('POST /oauth2/token', () =>
    sendRequest(`${shop.foyer.url}/oauth2/token`, { method: 'POST', headers, body }),
  );
  expectStatus(tokens, 200);
}

/** The member sets up an authenticator app, and sees the recovery codes. */
async function enrolTotp(browser: Browser, { foyer }: Setting['shop'], send: Send): Promise<void> {
  const scan = redirectOf(await send('POST /settings/mfa/totp', () => browser.submit('/settings/mfa/totp')));
  const page = await (await send('GET /settings/mfa/totp/scan', () => browser.get(scan))).text();
  const secret = (/<code id="totp-secret"[^>]*>(.*?)<\/code>/s.exec(page)?.[1] ?? '').replace(/<[^>]*>/g, '');
  const code = await appCode(secret, foyer.deps.now());
  const submit = () => browser.submit('/settings/mfa/totp/activate', { code });
  const codes = redirectOf(await send('POST /settings/mfa/totp/activate', submit));
  expectStatus(await send('GET /settings/recovery-codes', () => browser.get(codes)), 200);
}

/** A new user signs in with Google. */
async function federatedSignIn({ shop, providers }: Setting, send: Send): Promise<void> {
  const browser = shop.foyer.browser();
  await browser.get('/');
  providers.answerAs(somebody(providers, 'google'), 'google');
  const pressed = await send('POST /federation/:provider', () => browser.submit('/federation/google'));
  const address = refreshOf(await expectStatus(pressed, 200).text());
  const back = locationOf(await sendRequest(address, { redirect: 'manual' }));
  const answer = await send('GET /federation/:provider/callback', () => browser.get(back, { from: 'cross-site' }));
  if (!redirectOf(answer).startsWith('/post-signup/plan')) throw new Error(`the sign-in led to ${locationOf(answer)}`);
}

/** A closed browser loses its session, and keeps the mark of a known device. */
function closeBrowser({ jar }: Browser, url: string): void {
  const kept = jar.getCookiesSync(url).filter((cookie) => cookie.isPersistent());
  jar.removeAllCookiesSync();
  for (const cookie of kept) jar.setCookieSync(cookie, url);
}

/** All walks, by one new member. */
export async function walkAll(setting: Setting, record: Recorder): Promise<void> {
  const { shop, client } = setting;
  const user = await shop.foyer.addUser();
  const browser = await shop.foyer.signedIn(user);
  await purchase(browser, shop, record('purchase'));
  await upgrade(browser, record('upgrade'));
  closeBrowser(browser, shop.foyer.url);
  const { url, verifier } = await client.begin();
  const callback = await signIn(browser, url, user.email, record('sign-in'));
  await exchangeCode(setting, callback, verifier, record('code exchange'));
  await enrolTotp(browser, shop, record('TOTP enrolment'));
  await federatedSignIn(setting, record('federated sign-in'));
}
