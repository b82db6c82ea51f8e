import { withDefaultClient } from '../oidc/token-cookie-tools.ts';
import { toClientId } from '../support/ids.ts';
import { newKey } from '../support/proofs.ts';
import { relyingParty, signInFor } from '../support/relying-party.ts';
import { backends } from '../support/stores.ts';
import { setUpDpop } from './dpop-steps.ts';

/** RFC 9449: a bound token is worthless to an attacker who has only the token, or the token and one proof. */
describe.each(backends)('DPoP-bound tokens under attack on $name', (backend) => {
  const context = setUpDpop(backend);
  const { post, forToken, code, bound } = context;

  it('A public client’s refresh token is refused with another key or none and stays valid for its own key', async () => {
    const fields = { grant_type: 'refresh_token', refresh_token: (await bound(context.key)).refresh_token };
    for (const dpop of [await forToken(await newKey()), undefined]) {
      const answer = await post(fields, dpop);
      expect([answer.status, await answer.json()]).toEqual([400, expect.objectContaining({ error: 'invalid_grant' })]);
    }
    const good = await post(fields, await forToken(context.key));
    expect([good.status, await good.json()]).toEqual([200, expect.objectContaining({ token_type: 'DPoP' })]);
  });

  it('A proof replayed at the token endpoint gets no second token', async () => {
    const once = await forToken(context.key);
    const fields = { grant_type: 'refresh_token', refresh_token: (await bound(context.key)).refresh_token };
    const first = await post(fields, once);
    const { refresh_token: next } = (await first.json()) as { refresh_token: string };
    const again = await post({ ...fields, refresh_token: next }, once);
    expect([again.status, await again.json()]).toEqual([400, expect.objectContaining({ error: 'invalid_grant' })]);
  });

  it('A code requested with a key (dpop_jkt) is redeemed with no other key', async () => {
    const other = await newKey();
    for (const dpop of [undefined, await forToken(other)]) {
      const answer = await post(await code({ dpop_jkt: 'A'.repeat(43) }), dpop);
      expect([answer.status, await answer.json()]).toEqual([400, expect.objectContaining({ error: 'invalid_grant' })]);
    }
  });

  it('A client registered for bound tokens only gets no token without a proof', async () => {
    const registered = await context.foyer.addClient({ dpopBound: true });
    const strict = await relyingParty(context.foyer, registered);
    const begun = await strict.begin();
    await expect(
      strict.redeem(await signInFor(context.foyer.browser(), begun, context.user), begun),
    ).rejects.toMatchObject({
      error: 'invalid_grant',
    });
  });

  it('The site’s own client gets no token cookies without a proof once it is registered for bound tokens', async () => {
    const { db } = context.foyer.deps.database;
    await withDefaultClient(context.foyer);
    expect(Object.keys(await (await context.foyer.signedIn(context.user)).cookies())).toContain('foyer_access_token');
    const { metadata } = await db
      .selectFrom('clients')
      .selectAll()
      .where('id', '=', toClientId('web'))
      .executeTakeFirstOrThrow();
    const strict = JSON.stringify({ ...JSON.parse(metadata), dpop_bound_access_tokens: true });
    await db.updateTable('clients').set({ metadata: strict }).where('id', '=', toClientId('web')).execute();
    expect(Object.keys(await (await context.foyer.signedIn(context.user)).cookies())).not.toContain(
      'foyer_access_token',
    );
  });
});
