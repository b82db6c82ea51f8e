import { type ListedEvent, listEvents } from '../../server/audit/index.ts';
import { askToLeave, dayMs, operatorOf } from '../account/deletion/steps.ts';
import { giveTotp } from '../sign-in/factor-steps.ts';
import type { Browser } from '../support/browser.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { toUserId } from '../support/ids.ts';
import { backends } from '../support/stores.ts';

describe.each(backends)('acts that the audit trail records, on $name', (backend) => {
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(backend);
  });
  afterAll(() => foyer?.close());

  async function eventsAbout(user: { id: string }): Promise<ListedEvent[]> {
    await foyer.app.audit.seal();
    const listed = await listEvents(foyer.deps.database.db, { userId: toUserId(user.id), limit: 100 });
    return listed.toReversed();
  }
  const typesAbout = async (user: { id: string }) => (await eventsAbout(user)).map(({ type }) => type);
  const signIn = (browser: Browser, user: { email: string }, typed = password) =>
    browser.post('/sign-in', { username: user.email, password: typed });

  it('A sign-in is recorded with method, address and browser', async () => {
    const user = await foyer.addUser();
    const browser = foyer.browser();
    await browser.request('/sign-in', {
      method: 'POST',
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        'sec-fetch-site': 'same-origin',
        'user-agent': 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/130.0.0.0 Safari/537.36',
      },
      body: new URLSearchParams({ username: user.email, password }).toString(),
    });
    const [event] = await eventsAbout(user);
    expect(event).toMatchObject({
      type: 'sign-in.completed',
      details: { amr: ['pwd'] },
      actor: { kind: 'member' },
      member: user.id,
      device: 'Chrome · Windows',
    });
    expect(event?.address).toMatch(/^(127\.0\.0\.1|::1)$/);
  });

  it('Wrong passwords for one account are one event with their number, whose actor is a visitor', async () => {
    const user = await foyer.addUser();
    for (const wrong of ['wrong one', 'wrong two', 'wrong three']) await signIn(foyer.browser(), user, wrong);
    expect(await eventsAbout(user)).toMatchObject([
      { type: 'sign-in.refused', details: { method: 'password', attempts: 3 }, actor: { kind: 'visitor' } },
    ]);
  });

  it('A changed name, another factor and a changed password are recorded without their values', async () => {
    const user = await foyer.addUser();
    const browser = await foyer.signedIn(user);
    await browser.post('/settings/name', { given_name: 'Augusta', family_name: 'King' });
    const changed = 'another sesame 8';
    await browser.post('/settings/password', { old_password: password, new_password: changed });
    const events = await eventsAbout(user);
    expect(events.map(({ type, details }) => [type, details])).toEqual([
      ['sign-in.completed', { amr: ['pwd'] }],
      ['profile.changed', { change: 'name' }],
      ['password.changed', {}],
      // This browser stays signed in, in a new session.
      ['sign-in.completed', { amr: ['pwd'] }],
    ]);
    expect(JSON.stringify(events)).not.toMatch(/Augusta|sesame/);
  });

  it('A wrong code is recorded with its factor, and the right one with the sign-in', async () => {
    const user = await foyer.addUser();
    await giveTotp(foyer, user);
    const browser = foyer.browser();
    await signIn(browser, user);
    await browser.post('/second-factor', { code: '000000', method: 'totp' });
    expect(await typesAbout(user)).toEqual(['sign-in.refused']);
    expect((await eventsAbout(user))[0]?.details).toEqual({ method: 'totp', attempts: 1 });
  });

  it('A request to delete the account, its cancellation by a sign-in, and the erasure are recorded; no personal data stays', async () => {
    const user = await foyer.addUser();
    await askToLeave(await foyer.signedIn(user));
    await foyer.signedIn(user);
    await askToLeave(await foyer.signedIn(user));
    expect((await typesAbout(user)).filter((type) => type.startsWith('account.'))).toEqual([
      'account.deletion-requested',
      'account.deletion-cancelled',
      'account.deletion-requested',
    ]);
    foyer.passTime(15 * dayMs);
    await foyer.app.deletion.work();
    expect(await eventsAbout(user)).toEqual([]);
    const [erased] = await listEvents(foyer.deps.database.db, { type: 'account.erased', limit: 1 });
    expect(erased).toMatchObject({ actor: { kind: 'system' }, member: null, address: null });
    expect(await operatorOf(foyer)('audit', 'verify')).toMatchObject({ code: 0 });
  });

  it('The personal data export contains the events of the member', async () => {
    const user = await foyer.addUser();
    const browser = await foyer.signedIn(user);
    const data = JSON.parse(await (await browser.post('/settings/data', {})).text()) as Record<string, unknown>;
    expect(data.accountActivity).toMatchObject([{ type: 'sign-in.completed', actor: 'member' }]);
  });

  it('A command that changes is recorded with the operator, its name and its exit code, but not its arguments', async () => {
    const user = await foyer.addUser();
    const cli = operatorOf(foyer);
    expect(await cli('user', 'disable', user.email)).toMatchObject({ code: 0 });
    await cli('user', 'show', user.email);
    await cli('user', 'enable', 'no-one@example.com');
    expect(await eventsAbout(user)).toMatchObject([
      {
        type: 'operator.command',
        details: { command: 'user disable', exitCode: 0 },
        actor: { kind: 'operator', name: expect.stringMatching(/./) },
        address: null,
      },
    ]);
    const [last] = await listEvents(foyer.deps.database.db, { type: 'operator.command', limit: 1 });
    expect(last).toMatchObject({ details: { command: 'user enable', exitCode: 3 }, member: null });
  });
});
