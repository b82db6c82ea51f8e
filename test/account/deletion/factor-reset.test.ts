import { findUser } from '../../../server/users/index.ts';
import { memberWithTotp, signInWithTotp } from '../../sign-in/factor-steps.ts';
import { startFoyer, type TestFoyer } from '../../support/foyer.ts';
import { toUserId } from '../../support/ids.ts';
import { backends } from '../../support/stores.ts';
import { cancelToken, dayMs, operatorOf } from './steps.ts';

describe.each(backends)('cancelling a second-factor reset, on $name', (backend) => {
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(backend);
  });
  afterAll(() => foyer?.close());

  async function waiting() {
    const { user, secret } = await memberWithTotp(foyer);
    const run = await operatorOf(foyer)('user', 'reset-mfa', user.email);
    if (run.code !== 0) throw new Error(run.err);
    return { user, secret };
  }
  const staysAfterAll = async (id: string) => {
    foyer.passTime(4 * dayMs);
    await foyer.app.deletion.work();
    expect((await findUser(foyer.deps.database.db, toUserId(id)))?.mfaPreference).toBe('totp');
  };

  it('The link opens a page whose button keeps the second factor, once', async () => {
    const { user } = await waiting();
    const token = await cancelToken(foyer, user.email);
    const browser = foyer.browser();
    const page = await browser.get(`/cancel-factor-reset?${new URLSearchParams({ token })}`, {
      headers: { 'accept-language': 'nl' },
    });
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('Tweestapsverificatie behouden?')]);
    const answer = await browser.post('/cancel-factor-reset', { token });
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/cancel-factor-reset?done']);
    expect(await (await browser.get('/cancel-factor-reset?done')).text()).toContain('Two-step verification stays on');
    expect((await browser.post('/cancel-factor-reset', { token })).status).toBe(404);
    expect((await foyer.mails(user.email)).at(-1)?.template).toBe('factor-reset-cancelled');
    await staysAfterAll(user.id);
  });

  it('The settings show the reset, and a user who still has the factor can cancel it there', async () => {
    const { user, secret } = await waiting();
    const browser = foyer.browser();
    await signInWithTotp(foyer, browser, user, secret);
    const home = await (await browser.get('/settings')).text();
    expect(home).toMatch(/role="alert".*Two-step verification will be turned off.*href="\/settings\/factor-reset"/s);
    expect(await (await browser.get('/settings/factor-reset')).text()).toContain('Keep two-step verification');
    const answer = await browser.post('/settings/factor-reset');
    expect(answer.headers.get('location')).toBe('/settings?tab=mfa-data#settings:factor-reset-stopped');
    const after = await (await browser.get('/settings?tab=mfa-data#settings:factor-reset-stopped')).text();
    expect(after).toContain('Two-step verification stays on.');
    expect(after).not.toContain('Two-step verification will be turned off');
    // With nothing to stop there is no page.
    for (const again of [await browser.get('/settings/factor-reset'), await browser.post('/settings/factor-reset')]) {
      expect([again.status, again.headers.get('location')]).toEqual([303, '/settings?tab=mfa-data']);
    }
    await staysAfterAll(user.id);
  });
});
