import * as oidc from 'openid-client';
import type { User } from '../../server/users/index.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { toPlanId } from '../support/ids.ts';
import { type RelyingParty, relyingParty, type Tokens, tokensFor } from '../support/relying-party.ts';
import { backends } from '../support/stores.ts';

const dayMs = 24 * 60 * 60_000;
const starter = ['showcase:1', 'shortlist', 'messages'];
const growth = ['showcase:5', 'shortlist', 'messages', 'team:10'];

describe.each(backends)('the claims plan and entitlements on $name', (backend) => {
  let foyer: TestFoyer;
  let client: RelyingParty;
  beforeAll(async () => {
    foyer = await startFoyer(backend);
    const scopes = ['openid', 'email', 'membership'];
    client = await relyingParty(foyer, await foyer.addClient({ scopes, idTokenClaims: true }), scopes.join(' '));
  });
  afterAll(() => foyer?.close());

  /** Writes what the membership module writes when a plan changes. */
  const has = (user: User, planId: string | null, trialUntil: number | null = null) =>
    foyer.deps.database.db
      .updateTable('users')
      .set({ planId: planId === null ? null : toPlanId(planId), trialUntil: trialUntil })
      .where('id', '=', user.id)
      .execute();
  const info = ({ access_token: token }: Pick<Tokens, 'access_token'>, user: User) =>
    oidc.fetchUserInfo(client.config, token, user.id);

  it('A client with the scope membership gets plan and entitlements in the id token and at userinfo', async () => {
    const user = await foyer.addUser({ planId: toPlanId('12') });
    const tokens = await tokensFor(client, foyer.browser(), user);
    expect(tokens.claims()).toMatchObject({ plan: '12', entitlements: growth });
    expect(await info(tokens, user)).toMatchObject({ plan: '12', entitlements: growth });
  });

  it('A client without the scope membership gets neither plan nor entitlements', async () => {
    const user = await foyer.addUser({ planId: toPlanId('12') });
    const tokens = await tokensFor(client, foyer.browser(), user, { scope: 'openid email' });
    for (const claims of [tokens.claims(), await info(tokens, user)]) {
      expect(claims).not.toHaveProperty('plan');
      expect(claims).not.toHaveProperty('entitlements');
    }
  });

  it('Plan and entitlements cannot be had with the claims parameter or by a client without the scope', async () => {
    const user = await foyer.addUser({ planId: toPlanId('12') });
    const single = JSON.stringify({ userinfo: { plan: null }, id_token: { entitlements: { essential: true } } });
    const tokens = await tokensFor(client, foyer.browser(), user, { scope: 'openid', claims: single });
    expect({ ...tokens.claims(), ...(await info(tokens, user)) }).not.toHaveProperty('plan');
    expect(tokens.claims()).not.toHaveProperty('entitlements');
    const other = await relyingParty(foyer, await foyer.addClient(), 'openid membership');
    const begun = await other.begin();
    const answer = await foyer.browser().get(begun.url, { from: 'cross-site' });
    expect(new URL(answer.headers.get('location') ?? '').searchParams.get('error')).toBe('invalid_scope');
  });

  it('A change of plan appears at userinfo at once and in the next id token', async () => {
    const user = await foyer.addUser({ planId: toPlanId('10') });
    const before = await tokensFor(client, foyer.browser(), user);
    expect(before.claims()).toMatchObject({ plan: '10', entitlements: starter });
    await has(user, '12');
    expect(await info(before, user)).toMatchObject({ plan: '12', entitlements: growth });
    const after = await oidc.refreshTokenGrant(client.config, before.refresh_token ?? '');
    expect(after.claims()).toMatchObject({ plan: '12', entitlements: growth });
    await has(user, null);
    const gone = await info(after, user);
    expect(gone).toMatchObject({ entitlements: [] });
    expect(gone).not.toHaveProperty('plan');
  });

  it('A trial gives its entitlements until its last millisecond and names no plan', async () => {
    const user = await foyer.addUser();
    await has(user, null, foyer.deps.now() + dayMs / 48);
    const tokens = await tokensFor(client, foyer.browser(), user);
    expect(tokens.claims()).toMatchObject({ entitlements: starter });
    expect(tokens.claims()).not.toHaveProperty('plan');
    foyer.passTime(dayMs / 48);
    // The trial ends by time alone, without a write.
    expect(await info(tokens, user)).toMatchObject({ entitlements: [] });
  });

  it('A plan that is not in the catalogue gives no entitlements', async () => {
    const user = await foyer.addUser({ planId: toPlanId('99') });
    const tokens = await tokensFor(client, foyer.browser(), user);
    expect(tokens.claims()).toMatchObject({ entitlements: [] });
    expect(tokens.claims()).not.toHaveProperty('plan');
  });

  it('GET /user/info has the same plan and entitlements', async () => {
    const user = await foyer.addUser({ planId: toPlanId('14') });
    const browser = await foyer.signedIn(user);
    const answer = await browser.get('/user/info');
    expect(await answer.json()).toMatchObject({
      sub: user.id,
      plan: '14',
      entitlements: expect.arrayContaining(['wallet']),
    });
  });
});
