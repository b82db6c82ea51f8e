import * as oidc from 'openid-client';
import { memberWithPasskey } from '../passkeys/steps.ts';
import { locationOf } from '../support/browser.ts';
import { password } from '../support/foyer.ts';
import { backends } from '../support/stores.ts';
import { minuteMs, setUpStepUp } from './step-up-steps.ts';

const essentialAcr = (acr: object) => ({ claims: JSON.stringify({ id_token: { acr: { essential: true, ...acr } } }) });

/** OpenID Connect Core 1.0, sections 2, 3.1.2.1 and 5.5.1.1. */
describe.each(backends)('step-up authentication on $name', (backend) => {
  const context = setUpStepUp(backend);
  const { lead, atOnce, errorOf, home, how, remembered, askedAgain, showAgain } = context;

  describe('acr as an essential claim', () => {
    it.each([
      ['value', { value: 'aal2' }],
      ['values', { values: ['urn:example:gold', 'aal2'] }],
    ])('An essential acr with %s is asked for and given', async (_what, acr) => {
      const { secret, browser } = await remembered();
      expect(await errorOf(browser, { prompt: 'none', ...essentialAcr(acr) })).toBe('login_required');
      const begun = await context.client.begin(essentialAcr(acr));
      const again = await askedAgain(browser, await lead(browser, begun));
      const tokens = await context.client.redeem(await home(browser, await showAgain(browser, again, secret)), begun);
      expect(how(tokens).acr).toBe('aal2');
      expect(how(await atOnce(browser, { prompt: 'none', ...essentialAcr(acr) })).acr).toBe('aal2');
    });

    it('An essential acr that the user cannot reach gets unmet_authentication_requirements, whatever acr_values says', async () => {
      const browser = await context.foyer.signedIn(await context.foyer.addUser());
      const unmet = 'unmet_authentication_requirements';
      for (const more of [{}, { prompt: 'none' }, { acr_values: 'aal1' }] as Record<string, string>[]) {
        expect(await errorOf(browser, { ...essentialAcr({ value: 'aal2' }), ...more })).toBe(unmet);
      }
      expect(await errorOf(browser, essentialAcr({ values: ['urn:example:gold'] }))).toBe(unmet);
    });

    it('A user who answers with less than the essential acr causes an error, not another question', async () => {
      const { browser } = await memberWithPasskey(context.foyer);
      const begun = await context.client.begin(essentialAcr({ value: 'phr' }));
      const again = await askedAgain(browser, await lead(browser, begun));
      const at = locationOf(await browser.post(again.pathname + again.search, { password }));
      const back = new URL(await home(browser, at));
      expect(back.searchParams.get('error')).toBe('unmet_authentication_requirements');
      expect(back.searchParams.get('state')).toBe(begun.state);
    });

    it('Attack: an earlier or weaker sign-in never satisfies an essential acr, nor does a forged /storage call', async () => {
      const { user, browser } = await remembered();
      const landing = await lead(browser, await context.client.begin(essentialAcr({ value: 'aal2' })));
      const id = landing.searchParams.get('authorization_code') ?? '';
      const forged = { authorization_code: id, acr: 'aal2', amr: ['pwd', 'otp', 'mfa'], stepUp: true };
      const stored = await browser.postJson('/storage', forged);
      const { data } = (await stored.json()) as { data: { location: string } };
      expect(new URL(data.location, context.foyer.url).pathname).toBe('/');
      expect(new URL(locationOf(await browser.get(`/oauth2/authorize/${id}`))).pathname).toBe('/');
      // A sign-in in another tab without the second factor does not satisfy the request either.
      const tab = await lead(browser, await context.client.begin(essentialAcr({ value: 'aal2' })));
      context.foyer.passTime(minuteMs);
      await browser.post('/sign-in', { username: user.email, password });
      const again = new URL(await home(browser, `${context.foyer.url}/verify-user${tab.search}`));
      expect(again.searchParams.has('code')).toBe(false);
      await askedAgain(browser, again);
    });
  });

  describe('the rest of the claims parameter', () => {
    it('A user other than the one that the claim sub names gets login_required', async () => {
      const [user, other] = [await context.foyer.addUser(), await context.foyer.addUser()];
      const browser = await context.foyer.signedIn(user);
      const wanted = (id: string) => ({ claims: JSON.stringify({ id_token: { sub: { value: id } } }) });
      expect((await atOnce(browser, wanted(user.id))).claims()?.sub).toBe(user.id);
      expect(await errorOf(browser, { prompt: 'none', ...wanted(other.id) })).toBe('login_required');
      const landing = await lead(browser, await context.client.begin(wanted(other.id)));
      context.foyer.passTime(1000);
      const at = locationOf(await browser.post(`/sign-in${landing.search}`, { username: user.email, password }));
      expect(new URL(await home(browser, at)).searchParams.get('error')).toBe('login_required');
    });

    it('Other requested claims are ignored and give no more data about the user', async () => {
      const browser = await context.foyer.signedIn(await context.foyer.addUser());
      const claims = {
        id_token: { phone_number: { essential: true }, 'custom:jobTitle': null },
        userinfo: { address: null },
      };
      const begun = await context.client.begin({ scope: 'openid', claims: JSON.stringify(claims) });
      const tokens = await context.client.redeem((await lead(browser, begun)).href, begun);
      expect(Object.keys(tokens.claims() ?? {})).not.toEqual(expect.arrayContaining(['phone_number']));
      const info = await oidc.fetchUserInfo(context.client.config, tokens.access_token, tokens.claims()?.sub ?? '');
      expect(Object.keys(info)).toEqual(['sub']);
    });

    it.each(['{', '[]', '{}', '{"id_token":1}', '"x"'])(
      'The claims parameter %s gets invalid_request',
      async (claims) => {
        const browser = await context.foyer.signedIn(await context.foyer.addUser());
        expect(await errorOf(browser, { claims })).toBe('invalid_request');
      },
    );

    it.each(['{"id_token":{"acr":"aal2"}}', '{"id_token":{"acr":{"essential":"yes","values":"aal2"}}}'])(
      'The claims parameter %s gives no higher acr than the sign-in has',
      async (claims) => {
        const browser = await context.foyer.signedIn(await context.foyer.addUser());
        expect(how(await atOnce(browser, { claims })).acr).toBe('aal1');
      },
    );
  });
});
