import { randomUUID } from 'node:crypto';
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import * as oidc from 'openid-client';
import { cliOf } from '../support/cli.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { relyingParty } from '../support/relying-party.ts';
import { backends } from '../support/stores.ts';
import { basicOf, portOf, send } from './wire.ts';

const hourMs = 60 * 60_000;
const assertionType = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

describe.each(backends)('authentication of client apps on $name', (backend) => {
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(backend);
  });
  afterAll(() => foyer?.close());

  /** @returns the status that the token endpoint answers */
  const askWith = async (fields: Record<string, string>, authorization?: string) => {
    const { host } = new URL(foyer.url);
    const body = { grant_type: 'client_credentials', scope: 'users:read', ...fields };
    const answer = await send(portOf(foyer.url), '/oauth2/token', {
      method: 'POST',
      headers: {
        host,
        accept: 'application/json',
        'content-type': 'application/x-www-form-urlencoded',
        ...(authorization !== undefined && { authorization }),
      },
      body: new URLSearchParams(body).toString(),
    });
    return answer.status;
  };
  const service = () => foyer.addClient({ service: true, redirectUris: [], scopes: ['users:read'] });

  describe('a rotated client secret', () => {
    const rotate = async (id: string, ...options: string[]) => {
      const run = await cliOf(foyer)('client', 'update', id, '--new-secret', '--json', ...options);
      expect(run).toMatchObject({ code: 0 });
      return run.json<{ client_secret: string }>().client_secret;
    };

    it('The old and the new client secret both authenticate for 24 hours, then only the new one does', async () => {
      const client = await service();
      const secret = await rotate(client.id);
      expect(await askWith({}, basicOf({ ...client, secret }))).toBe(200);
      expect(await askWith({}, basicOf(client))).toBe(200);
      const shown = await cliOf(foyer)('client', 'show', client.id);
      expect(shown.out).toMatch(/Previous secret +valid until \d{4}-/);
      foyer.passTime(24 * hourMs + 1);
      expect(await askWith({}, basicOf(client))).toBe(401);
      expect(await askWith({}, basicOf({ ...client, secret }))).toBe(200);
    });

    it('A leaked secret ends at once with --old-secret-for 0, and a forgotten one with --drop-old-secret', async () => {
      const leaked = await service();
      const secret = await rotate(leaked.id, '--old-secret-for', '0');
      expect(await askWith({}, basicOf(leaked))).toBe(401);
      expect(await askWith({}, basicOf({ ...leaked, secret }))).toBe(200);
      const client = await service();
      const newest = await rotate(client.id);
      expect(await cliOf(foyer)('client', 'update', client.id, '--drop-old-secret')).toMatchObject({ code: 0 });
      expect(await askWith({}, basicOf(client))).toBe(401);
      expect(await askWith({}, basicOf({ ...client, secret: newest }))).toBe(200);
    });

    it('The client secret before the previous one does not become valid again', async () => {
      const client = await service();
      await rotate(client.id);
      await rotate(client.id);
      expect(await askWith({}, basicOf(client))).toBe(401);
    });
  });

  describe('client assertions (private_key_jwt)', () => {
    async function clientWithKey(alg: string) {
      const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
      const jwks = { keys: [{ ...(await exportJWK(publicKey)), kid: 'k1', use: 'sig' }] };
      const client = await foyer.addClient({ service: true, redirectUris: [], scopes: ['users:read'], jwks });
      const claims = { iss: client.id, sub: client.id, aud: foyer.url };
      const sign = (change: JWTPayload = {}, key: Parameters<SignJWT['sign']>[0] = privateKey, header = {}) =>
        new SignJWT({ ...claims, jti: randomUUID(), exp: Math.floor(Date.now() / 1000) + 60, ...change })
          .setProtectedHeader({ alg, kid: 'k1', ...header })
          .sign(key);
      const ask = (assertion: string) => askWith({ client_assertion_type: assertionType, client_assertion: assertion });
      return { client, privateKey, sign, ask };
    }

    it.each(['ES256', 'RS256', 'PS256', 'EdDSA'])(
      'A client assertion signed with %s by openid-client gets a token',
      async (alg) => {
        const { client, privateKey } = await clientWithKey(alg);
        expect(client.secret).toBeNull();
        const { config } = await relyingParty(foyer, { ...client, secret: null });
        const own = new oidc.Configuration(
          config.serverMetadata(),
          client.id,
          undefined,
          oidc.PrivateKeyJwt({ key: privateKey, kid: 'k1' }),
        );
        oidc.allowInsecureRequests(own);
        expect((await oidc.clientCredentialsGrant(own, { scope: 'users:read' })).access_token).toBeTruthy();
      },
    );

    it('An overheard client assertion is accepted once of ten uses at once, and never later', async () => {
      const { sign, ask } = await clientWithKey('ES256');
      const assertion = await sign();
      const statuses = await Promise.all(Array.from({ length: 10 }, () => ask(assertion)));
      expect(statuses.filter((status) => status === 200)).toHaveLength(1);
      expect(statuses.every((status) => [200, 400, 401].includes(status))).toBe(true);
      expect(await ask(assertion)).toBe(401);
    });

    it('A client assertion that is expired, incomplete, unsigned or of another audience, client or key gets 401', async () => {
      const { client, sign, ask } = await clientWithKey('ES256');
      const other = await clientWithKey('ES256');
      const past = Math.floor(Date.now() / 1000) - 60;
      const unsigned = (await sign())
        .split('.')
        .with(0, btoa('{"alg":"none"}').replaceAll('=', ''))
        .with(2, '')
        .join('.');
      const secret = new TextEncoder().encode(JSON.stringify(client));
      const forged = await new SignJWT({ iss: client.id, sub: client.id, aud: foyer.url, jti: 'x', exp: past + 120 })
        .setProtectedHeader({ alg: 'HS256', kid: 'k1' })
        .sign(secret);
      const assertions = {
        expired: await sign({ exp: past }),
        'without exp': await sign({ exp: undefined }),
        'without jti': await sign({ jti: undefined }),
        'for another audience': await sign({ aud: 'https://other.example' }),
        'issued by another client': await sign({ iss: other.client.id }),
        'signed with another key': await sign({}, other.privateKey),
        unsigned,
        'signed with public values (HS256)': forged,
      };
      for (const [name, assertion] of Object.entries(assertions))
        expect([name, await ask(assertion)]).toEqual([name, 401]);
    });

    it('A client with a key does not authenticate with its former secret or with its id alone', async () => {
      const { client } = await clientWithKey('ES256');
      expect(await askWith({ client_id: client.id })).toBe(401);
      expect(await askWith({}, basicOf({ id: client.id, secret: 'foyer_cs_x' }))).toBe(401);
    });
  });
});
