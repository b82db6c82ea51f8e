import * as client from 'openid-client';
import { discoverOnce } from '../../server/federation/providers/discovery.ts';
import { createProviderKeys } from '../../server/federation/providers/provider-keys.ts';
import { makeSigningKey, type OpenIdStandIn, signInsAt, startOpenIdStandIn } from './openid-stand-in.ts';
import { refusal } from './strategies.ts';

const ada = { subject: 'ada' };

describe('the keys of an OpenID provider', () => {
  let standIn: OpenIdStandIn;
  let nowMs: number;
  const open = () => signInsAt(standIn, {}, { now: () => nowMs });
  beforeEach(async () => {
    standIn = await startOpenIdStandIn();
    nowMs = 1_000_000;
  });
  afterEach(() => standIn?.close());

  it('The keys are fetched at the first sign-in, and not again while they are known', async () => {
    const { signIn } = open();
    for (let n = 0; n < 5; n += 1) expect(await signIn()).toMatchObject(ada);
    expect(standIn.count('/jwks')).toBe(1);
  });

  it('A key that the provider has changed between two sign-ins is accepted at once', async () => {
    const { signIn } = open();
    expect(await signIn()).toMatchObject(ada);
    await standIn.changeKey();
    nowMs += 5_000;
    expect(await signIn()).toMatchObject(ada);
    expect(standIn.count('/jwks')).toBe(2);
  });

  it('Of 100 sign-ins at a provider that changes its key every ten seconds, none fails', async () => {
    const { signIn } = open();
    let failures = 0;
    for (let n = 0; n < 100; n += 1) {
      if (n > 0 && n % 4 === 0) await standIn.changeKey(n % 8 === 0 ? 'RS256' : 'ES256');
      standIn.traits.metadata = { id_token_signing_alg_values_supported: ['RS256', 'ES256'] };
      failures += await signIn().then(
        () => 0,
        () => 1,
      );
      nowMs += 2_500;
    }
    expect(failures).toBe(0);
    expect(standIn.count('/jwks')).toBe(25);
  });

  it('Eight sign-ins at once after a change of key fetch the keys once', async () => {
    const { signIn } = open();
    await signIn();
    await standIn.changeKey();
    nowMs += 5_000;
    const everyone = await Promise.all(Array.from({ length: 8 }, signIn));
    expect(everyone).toEqual(everyone.map(() => expect.objectContaining(ada)));
    expect(standIn.count('/jwks')).toBe(2);
  });

  it('A key without a name that has been replaced is accepted five seconds after the last look', async () => {
    const nameless = async () => {
      standIn.traits.key = await makeSigningKey('RS256', undefined);
      const { kid: _, ...publicJwk } = standIn.traits.key.publicJwk;
      standIn.traits.key.kid = undefined;
      standIn.traits.keys = [publicJwk];
    };
    await nameless();
    const { signIn } = open();
    await signIn();
    await nameless();
    nowMs += 5_000;
    expect(await signIn()).toMatchObject(ada);
  });

  it('A key that the provider has withdrawn is refused five minutes later', async () => {
    const { signIn } = open();
    await signIn();
    const { key } = standIn.traits;
    await standIn.changeKey();
    standIn.traits.key = key;
    expect(await signIn()).toMatchObject(ada);
    nowMs += 5 * 60_000;
    expect(await refusal(signIn())).toMatchObject({ kind: 'invalid' });
  });

  it('Attack: a token whose key the provider does not publish is refused', async () => {
    const { signIn } = open();
    await signIn();
    standIn.traits.key = await makeSigningKey();
    nowMs += 5_000;
    expect(await refusal(signIn())).toMatchObject({ kind: 'invalid', detail: 'OAUTH_KEY_SELECTION_FAILED' });
    const known = await makeSigningKey('RS256', String(standIn.traits.keys[0]?.kid));
    standIn.traits.key = known;
    nowMs += 5_000;
    expect(await refusal(signIn())).toMatchObject({ kind: 'invalid' });
  });

  it('Attack: tokens with unknown keys let the keys be fetched at most every five seconds', async () => {
    const waits: number[] = [];
    const keys = createProviderKeys(
      () => nowMs,
      async (ms) => {
        waits.push(ms);
        nowMs += ms;
      },
    );
    const config = { issuer: standIn.issuer, clientId: 'foyer' };
    let fetched = 0;
    const look = async () => {
      const { configuration } = await discoverOnce(config);
      const ask = async () => {
        fetched += 1;
        return { status: 200, headers: new Headers(), text: '{"keys":[]}' };
      };
      const request = keys.serve(configuration, ask)[client.customFetch];
      await request?.(`${standIn.issuer}/jwks`, { method: 'GET', headers: {}, body: undefined, redirect: 'manual' });
    };
    await Promise.all(Array.from({ length: 20 }, look));
    const together = fetched;
    for (let n = 0; n < 3; n += 1) await look();
    nowMs += 7_000;
    await look();
    expect(fetched - together).toBe(4);
    // All but the first and the last had to wait.
    expect(waits).toEqual(Array.from({ length: fetched - 2 }, () => 5_000));
  });
});
