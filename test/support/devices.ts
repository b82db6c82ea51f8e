import * as oidc from 'openid-client';
import type { ClientRequest } from '../../server/oidc/index.ts';
import { type Browser, locationOf } from './browser.ts';
import { password, type TestFoyer } from './foyer.ts';
import { type RelyingParty, refreshOf, relyingParty, store } from './relying-party.ts';

/** A typical device without a browser, with openid-client. */
export interface Device extends Pick<RelyingParty, 'config' | 'id'> {
  name: string;
  ask(parameters?: Record<string, string>): Promise<oidc.DeviceAuthorizationResponse>;
  /** Requests the tokens once, without the library's polling. */
  poll(asked: oidc.DeviceAuthorizationResponse): Promise<{ status: number; body: Record<string, unknown> }>;
}

export async function device(
  foyer: TestFoyer,
  registration: Partial<ClientRequest> = {},
  scope = 'openid email',
): Promise<Device> {
  const registered = await foyer.addClient({
    device: true,
    public: true,
    redirectUris: [],
    name: 'Harbour Radio',
    scopes: scope.split(' '),
    ...registration,
  });
  const { config } = await relyingParty(foyer, registered);
  return {
    config,
    id: registered.id,
    name: registration.name ?? 'Harbour Radio',
    ask: (parameters = {}) => oidc.initiateDeviceAuthorization(config, { scope, ...parameters }),
    async poll({ device_code }) {
      const secret = registered.secret === null ? '' : registered.secret;
      const answer = await fetch(`${foyer.url}/oauth2/token`, {
        method: 'POST',
        headers: secret === '' ? {} : { authorization: `Basic ${btoa(`${registered.id}:${secret}`)}` },
        body: new URLSearchParams({
          grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
          client_id: registered.id,
          device_code,
        }),
      });
      return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
    },
  };
}

/** A hidden field of the page, as a browser would send it. */
export function hiddenField(html: string, name: string): string {
  const value = new RegExp(`name="${name}" value="([^"]*)"`).exec(html)?.[1];
  if (value === undefined) throw new Error(`no field ${name}: ${html.slice(0, 300)}`);
  return value;
}

/** Types a code at the page for codes. */
export async function typeCode(browser: Browser, userCode: string): Promise<Response> {
  const page = await (await browser.get('/oauth2/device')).text();
  return browser.post('/oauth2/device', { xsrf: hiddenField(page, 'xsrf'), user_code: userCode });
}

/** Types a code and confirms (or refuses) it; returns the redirect's target. */
export async function answerCode(
  browser: Browser,
  userCode: string,
  answer: 'confirm' | 'abort' = 'confirm',
): Promise<string> {
  const page = await typeCode(browser, userCode);
  const html = await page.text();
  if (page.status !== 200) throw new Error(`the code was answered ${page.status}: ${html.slice(0, 300)}`);
  const fields = { xsrf: hiddenField(html, 'xsrf'), user_code: hiddenField(html, 'user_code'), [answer]: 'yes' };
  return locationOf(await browser.post('/oauth2/device', fields));
}

/** Continues from a confirmed code to the end; returns the last address. */
export async function finishCode(browser: Browser, from: string, user: { email: string }): Promise<string> {
  let at = from;
  for (let hops = 0; hops < 10; hops += 1) {
    const { pathname, search, searchParams } = new URL(at);
    if (pathname.startsWith('/device/')) return at;
    if (pathname === '/verify-user') at = new URL(await store(browser, at), at).href;
    else if (pathname === '/consent') {
      const fields = { authorization_code: searchParams.get('authorization_code') ?? '', decision: 'allow' };
      at = new URL(refreshOf(await (await browser.post('/consent', fields)).text()), at).href;
    } else if (pathname === '/') {
      const page = await browser.get(at);
      const next =
        page.status === 303 ? page : await browser.post(`/sign-in${search}`, { username: user.email, password });
      at = locationOf(next);
    } else at = locationOf(await browser.get(at));
  }
  throw new Error(`did not end: ${at}`);
}
