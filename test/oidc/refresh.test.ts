import * as oidc from 'openid-client';
import { locationOf } from '../support/browser.ts';
import { toClientId } from '../support/ids.ts';
import { type RelyingParty, relyingParty, type Tokens, tokensFor } from '../support/relying-party.ts';
import { backends, flushKeyValue } from '../support/stores.ts';
import { setUpUser } from './user-and-client.ts';

const dayMs = 24 * 60 * 60 * 1000;
/** The time within which a second use counts as a retry, and a little more. */
const tooLateMs = 11_000;

describe.each(backends)('refresh on $name', (backend) => {
  const context = setUpUser(backend);

  let client: RelyingParty;
  let tokens: Tokens;

  async function begin(isPublic: boolean): Promise<void> {
    client = await relyingParty(context.foyer, await context.foyer.addClient({ public: isPublic }));
    tokens = await tokensFor(client, context.foyer.browser(), context.user);
  }
  beforeEach(() => begin(true));

  const refresh = (token: string | undefined, parameters: Record<string, string> = {}) =>
    oidc.refreshTokenGrant(client.config, token ?? '', parameters);
  const info = (accessToken: string) => oidc.fetchUserInfo(client.config, accessToken, context.user.id);
  const isActive = async (token: string | undefined) =>
    (await oidc.tokenIntrospection(client.config, token ?? '')).active;
  const refused = { status: 400, error: 'invalid_grant' };

  it('Each refresh gives new tokens, and the previous access token stays valid for its hour', async () => {
    const seen = [tokens.refresh_token];
    let newest: Pick<Tokens, 'refresh_token' | 'access_token'> = tokens;
    for (let turn = 0; turn < 4; turn += 1) {
      newest = await refresh(newest.refresh_token);
      expect((await info(newest.access_token)).sub).toBe(context.user.id);
      seen.push(newest.refresh_token);
    }
    expect(new Set(seen).size).toBe(5);
    expect((await info(tokens.access_token)).sub).toBe(context.user.id);
  });

  it('Attack: a refresh token that is used again revokes its whole family and every access token of it', async () => {
    const second = await refresh(tokens.refresh_token);
    const third = await refresh(second.refresh_token);
    context.foyer.passTime(tooLateMs);
    await expect(refresh(tokens.refresh_token)).rejects.toMatchObject(refused);
    await expect(refresh(third.refresh_token)).rejects.toMatchObject(refused);
    for (const { access_token } of [tokens, second, third]) {
      await expect(info(access_token)).rejects.toMatchObject({ status: 401 });
      expect(await isActive(access_token)).toBe(false);
    }
    expect(await isActive(third.refresh_token)).toBe(false);
  });

  it('A reused refresh token leaves other users, other clients and the session untouched', async () => {
    const browser = await context.foyer.signedIn(context.user);
    const mine = await tokensFor(client, browser, context.user);
    const elsewhere = await relyingParty(context.foyer, await context.foyer.addClient());
    const other = await tokensFor(elsewhere, browser, context.user);
    await refresh(mine.refresh_token);
    context.foyer.passTime(tooLateMs);
    await expect(refresh(mine.refresh_token)).rejects.toMatchObject(refused);
    expect((await refresh(tokens.refresh_token)).access_token).toBeTruthy();
    expect((await oidc.refreshTokenGrant(elsewhere.config, other.refresh_token ?? '')).access_token).toBeTruthy();
    const begun = await client.begin({ prompt: 'none' });
    const again = await client.redeem(locationOf(await browser.get(begun.url)), begun);
    expect((await refresh(again.refresh_token)).access_token).toBeTruthy();
  });

  it('A refreshed id token keeps sub, aud, auth_time and amr', async () => {
    const claims = (await refresh(tokens.refresh_token)).claims();
    const { sub, aud, auth_time, amr } = tokens.claims() as oidc.IDToken;
    expect(claims).toMatchObject({ sub, aud, auth_time, amr });
  });

  it('A refresh gives fewer scopes when asked, but never more', async () => {
    const less = await refresh(tokens.refresh_token, { scope: 'openid email' });
    expect(less.scope).toBe('openid email');
    expect(await info(less.access_token)).not.toHaveProperty('name');
    await expect(refresh(less.refresh_token, { scope: 'openid offline_access' })).rejects.toMatchObject({
      error: 'invalid_scope',
    });
    expect((await refresh(less.refresh_token)).scope?.split(' ')).toContain('profile');
  });

  it('Attack: another client cannot use a refresh token, which stays valid for its own client', async () => {
    const other = await relyingParty(context.foyer, await context.foyer.addClient());
    await expect(oidc.refreshTokenGrant(other.config, tokens.refresh_token ?? '')).rejects.toMatchObject(refused);
    expect((await refresh(tokens.refresh_token)).access_token).toBeTruthy();
  });

  it('A refresh token survives the loss of the key-value store, so the user is not asked again', async () => {
    await flushKeyValue(context.foyer.stores);
    await expect(info(tokens.access_token)).rejects.toMatchObject({ status: 401 });
    const refreshed = await refresh(tokens.refresh_token);
    expect((await info(refreshed.access_token)).sub).toBe(context.user.id);
    context.foyer.passTime(tooLateMs);
    await expect(refresh(tokens.refresh_token)).rejects.toMatchObject(refused);
    await expect(info(refreshed.access_token)).rejects.toMatchObject({ status: 401 });
  });

  it('A refresh token of a confidential client is not rotated and works repeatedly, also concurrently', async () => {
    await begin(false);
    const answers = await Promise.all([refresh(tokens.refresh_token), refresh(tokens.refresh_token)]);
    context.foyer.passTime(tooLateMs);
    answers.push(await refresh(tokens.refresh_token));
    for (const answer of answers) {
      expect(answer.refresh_token).toBe(tokens.refresh_token);
      expect((await info(answer.access_token)).sub).toBe(context.user.id);
    }
  });

  it.each([true, false])('A refresh token ends after two weeks without use; public client: %s', async (isPublic) => {
    await begin(isPublic);
    context.foyer.passTime(13 * dayMs);
    const used = await refresh(tokens.refresh_token);
    context.foyer.passTime(14 * dayMs + 1000);
    await expect(refresh(used.refresh_token)).rejects.toMatchObject(refused);
    context.foyer.passTime(-27 * dayMs - 1000);
  });

  it.each([true, false])(
    'A refresh token ends ninety days after the sign-in, however often it is used; public client: %s',
    async (isPublic) => {
      await begin(isPublic);
      let newest: string | undefined = tokens.refresh_token;
      for (let day = 0; day < 88; day += 11) {
        context.foyer.passTime(11 * dayMs);
        newest = (await refresh(newest)).refresh_token;
      }
      context.foyer.passTime(2 * dayMs + 1000);
      await expect(refresh(newest)).rejects.toMatchObject(refused);
      context.foyer.passTime(-90 * dayMs - 1000);
    },
  );

  it('A grant never ends before its refresh tokens, however old the session is that gives it', async () => {
    const [browser, third] = [
      await context.foyer.signedIn(context.user),
      await context.foyer.addClient({ thirdParty: true }),
    ];
    const consented = await relyingParty(context.foyer, third);
    const early = await tokensFor(client, browser, context.user);
    await tokensFor(consented, browser, context.user);
    context.foyer.passTime(60 * dayMs);
    await tokensFor(client, browser, context.user);
    // Consent is remembered for the session, whichever grant holds it.
    const begun = await consented.begin();
    const silent = await consented.redeem(locationOf(await browser.get(begun.url)), begun);
    expect((await oidc.fetchUserInfo(consented.config, silent.access_token, context.user.id)).email).toBe(
      context.user.email,
    );
    for (const { id } of [client, consented]) {
      const grants = context.foyer.stores.database.db
        .selectFrom('oidc')
        .select('expiresAt')
        .where('model', '=', 'Grant');
      const newest = await grants
        .where('clientId', '=', toClientId(id))
        .orderBy('expiresAt', 'desc')
        .executeTakeFirstOrThrow();
      expect(newest.expiresAt).toBeGreaterThan(context.foyer.deps.now() + 90 * dayMs);
    }
    context.foyer.passTime(-60 * dayMs);
    expect((await refresh(early.refresh_token)).access_token).toBeTruthy();
  });

  it('The database has neither the refresh token nor its id in plain text', async () => {
    const rows = await context.foyer.stores.database.db.selectFrom('oidc').selectAll().execute();
    const kept = JSON.stringify(rows);
    expect(rows.length).toBeGreaterThan(0);
    expect(kept).not.toContain(tokens.refresh_token);
    // The search is for a property name, because sealed text may contain these letters by chance.
    expect(kept).not.toMatch(/\\?"jti\\?"/);
  });
});
