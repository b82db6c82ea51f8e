import * as oidc from 'openid-client';
import { languages, translator } from '../../server/http/index.ts';
import type { User } from '../../server/users/index.ts';
import { askForEmail, emailCode, fresh, otherThan } from '../account/contact/steps.ts';
import { activate, appCode, begin, enrol, leadsTo, shownCodes } from '../account/mfa-steps.ts';
import { addPath, askedAt } from '../passkeys/steps.ts';
import { textedCode } from '../sign-in/factor-steps.ts';
import { Authenticator, type CreationOptions } from '../support/authenticator.ts';
import type { Browser } from '../support/browser.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { type RelyingParty, relyingParty, tokensFor } from '../support/relying-party.ts';
import { backends } from '../support/stores.ts';

type Box = { endOthers?: '1' };

/** A change of a credential: the steps before its form, the page of the form, and the request that sends it. */
interface Act {
  before?(browser: Browser, user: User): Promise<unknown>;
  page: string;
  send(browser: Browser, user: User, box: Box): Promise<Response>;
  /** Sends values that the page refuses. */
  sendWrong?(browser: Browser, box: Box): Promise<Response>;
}

describe.each(backends)('a change of a credential while a thief is signed in elsewhere, on $name', (backend) => {
  let foyer: TestFoyer;
  let app: RelyingParty;
  beforeAll(async () => {
    foyer = await startFoyer(backend, { GUESS_LIMIT_ADDRESS: '10000', SMS_LIMIT_ADDRESS: '1000' });
    app = await relyingParty(foyer, await foyer.addClient());
  });
  afterAll(() => foyer?.close());

  const nowMs = () => foyer.deps.now();
  const isIn = async (browser: Browser) => (await browser.get('/settings')).status === 200;
  const changesTold = async (email: string) =>
    (await foyer.mails(email))
      .filter(({ template }) => template === 'security-notice')
      .map(({ values }) => values.change);
  const emails = new Map<string, string>();
  const secrets = new Map<string, string>();
  const enrolled = async (browser: Browser) => {
    await enrol(foyer, browser);
    await shownCodes(browser);
  };

  const acts: Record<string, Act> = {
    'a new e-mail address': {
      async before(browser, user) {
        emails.set(user.id, fresh().email);
        await askForEmail(browser, emails.get(user.id) ?? '');
      },
      page: '/settings/email/code',
      send: async (browser, user, box) =>
        browser.post('/settings/email/code', { code: await emailCode(foyer, emails.get(user.id) ?? ''), ...box }),
      sendWrong: (browser, box) => browser.post('/settings/email/code', { code: '12', ...box }),
    },
    'an authenticator app': {
      before: async (browser, user) => void secrets.set(user.id, await begin(browser)),
      page: '/settings/mfa/totp/activate',
      send: async (browser, user, box) =>
        browser.post('/settings/mfa/totp/activate', {
          code: await appCode(secrets.get(user.id) ?? '', nowMs()),
          ...box,
        }),
      sendWrong: (browser, box) => browser.post('/settings/mfa/totp/activate', { code: '12', ...box }),
    },
    'codes by SMS': {
      before: (browser) => browser.post('/settings/mfa/sms'),
      page: '/settings/mfa/sms/code',
      send: async (browser, user, box) =>
        browser.post('/settings/mfa/sms/code', { code: await textedCode(foyer, user.phone ?? ''), ...box }),
      sendWrong: (browser, box) => browser.post('/settings/mfa/sms/code', { code: '12', ...box }),
    },
    'no second factor': {
      before: enrolled,
      page: '/settings?tab=mfa-data',
      send: (browser, _user, box) => browser.post('/settings/mfa', { method: 'none', ...box }),
      sendWrong: (browser, box) => browser.post('/settings/mfa', { method: 'pigeon', ...box }),
    },
    'another second factor': {
      async before(browser, user) {
        await enrolled(browser);
        await browser.post('/settings/mfa/sms');
        await browser.post('/settings/mfa/sms/code', { code: await textedCode(foyer, user.phone ?? '') });
      },
      page: '/settings/mfa',
      send: (browser, _user, box) => browser.post('/settings/mfa', { method: 'totp', ...box }),
    },
    'new recovery codes': {
      before: enrolled,
      page: '/settings/recovery-codes',
      send: (browser, _user, box) => browser.post('/settings/recovery-codes', { ...box }),
    },
    'a passkey': {
      page: addPath,
      async send(browser, _user, box) {
        const authenticator = new Authenticator(foyer.url);
        const credential = authenticator.create(await askedAt<CreationOptions>(browser, addPath));
        return browser.post(addPath, { name: 'Laptop', credential, ...box });
      },
      sendWrong: (browser, box) => browser.post(addPath, { name: '', ...box }),
    },
  };
  const names = Object.keys(acts);
  const actOf = (name: string): Act => {
    const act = acts[name];
    if (!act) throw new Error(`no act ${name}`);
    return act;
  };

  let phones = 0;
  /** A user in one browser, and a thief in another one who has opened a client app. */
  async function withThief(name: string) {
    phones += 1;
    const user = await foyer.addUser({ phone: `+4915${String(205_000_000 + phones * 7)}`, phoneVerified: true });
    const [own, thief] = [await foyer.signedIn(user), foyer.browser()];
    const tokens = await tokensFor(app, thief, user);
    await actOf(name).before?.(own, user);
    return { user, own, thief, tokens };
  }
  const box = (html: string) => /<input[^>]*name="endOthers"[^>]*>/.exec(html)?.[0];

  it.each(names)(
    '%s with the box of the page ticked signs the thief out and revokes the thief’s tokens',
    async (name) => {
      const { user, own, thief, tokens } = await withThief(name);
      const act = actOf(name);
      const shown = box(await (await own.get(act.page)).text());
      expect(shown).toContain('checked=""');
      expect(shown).toContain('value="1"');
      const answer = await act.send(own, user, { endOthers: '1' });
      expect(answer.status).toBe(303);
      expect(leadsTo(await thief.get('/settings'))).toBe('303 /?redirect=%2Fsettings');
      await expect(oidc.refreshTokenGrant(app.config, tokens.refresh_token ?? '')).rejects.toMatchObject({
        error: 'invalid_grant',
      });
      expect(await isIn(own)).toBe(true);
      expect(await changesTold(emails.get(user.id) ?? user.email)).toContain('sessions-ended');
    },
  );

  it.each(names)('%s with the box cleared leaves the other browser signed in', async (name) => {
    const { user, own, thief, tokens } = await withThief(name);
    const answer = await actOf(name).send(own, user, {});
    expect(answer.status).toBe(303);
    expect([await isIn(own), await isIn(thief)]).toEqual([true, true]);
    expect((await oidc.refreshTokenGrant(app.config, tokens.refresh_token ?? '')).claims()?.sub).toBe(user.id);
    expect(await changesTold(emails.get(user.id) ?? user.email)).not.toContain('sessions-ended');
  });

  it.each(names.filter((name) => actOf(name).sendWrong))(
    '%s that is refused signs no browser out and shows the box as it was sent',
    async (name) => {
      const { own, thief } = await withThief(name);
      const { sendWrong } = actOf(name);
      for (const [sent, checked] of [
        [{ endOthers: '1' }, true],
        [{}, false],
      ] as const) {
        const answer = await sendWrong?.(own, sent);
        expect(answer?.status).toBe(400);
        const shown = box((await answer?.text()) ?? '');
        expect([name, shown !== undefined, shown?.includes('checked=""')]).toEqual([name, true, checked]);
      }
      expect(await isIn(thief)).toBe(true);
    },
  );

  it('A user who turns a second factor on keeps the session with the new id', async () => {
    const { user, own, thief } = await withThief('an authenticator app');
    const wrong = otherThan(await appCode(secrets.get(user.id) ?? '', nowMs()));
    expect((await activate(own, wrong)).status).toBe(400);
    expect((await actOf('an authenticator app').send(own, user, { endOthers: '1' })).status).toBe(303);
    expect([await isIn(own), await isIn(thief)]).toEqual([true, false]);
    expect(await foyer.app.sessions.list(user.id)).toHaveLength(1);
    expect(await shownCodes(own)).toHaveLength(10);
  });

  it.each(languages)('The label of the box that signs out other browsers is in the language %s', async (lang) => {
    const user = await foyer.addUser({ locale: lang });
    const own = await foyer.signedIn(user);
    const html = await (await own.get(addPath)).text();
    expect(html).toContain(`<span>${translator(lang)('devices.endOthers')}</span>`);
  });
});
