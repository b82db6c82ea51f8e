import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Cli, eachCli } from '../support/cli.ts';
import { backends } from '../support/stores.ts';
import { shop } from './shop-client.ts';

describe.each(backends)('foyer client update on $name', (backend) => {
  let foyer: Cli;
  eachCli(backend, (cli) => {
    foyer = cli;
  });

  it('Updating a client changes what is named and keeps the rest', async () => {
    await foyer(
      'client',
      'add',
      ...shop,
      '--logo',
      'https://shop.example.com/logo.png',
      '--client-uri',
      'https://shop.example.com/about',
      '--policy-uri',
      'https://shop.example.com/privacy',
      '--logout-uri',
      'https://shop.example.com/out',
    );
    const run = await foyer(
      'client',
      'update',
      'shop',
      '--redirect-uri',
      'https://new.example.com/cb',
      '--no-logo',
      '--no-policy-uri',
      '--json',
    );
    expect(run.json()).toMatchObject({
      client_name: 'The Shop',
      redirect_uris: ['https://new.example.com/cb'],
      post_logout_redirect_uris: ['https://shop.example.com/out'],
      client_uri: 'https://shop.example.com/about',
      scope: 'openid profile email phone',
    });
    expect(run.json()).not.toHaveProperty('logo_uri');
    expect(run.json()).not.toHaveProperty('policy_uri');
    expect(run.json()).not.toHaveProperty('client_secret');
    expect((await foyer('client', 'show', 'shop', '--json')).json()).toEqual(run.json());
    const cleared = await foyer('client', 'update', 'shop', '--no-logout-uri', '--third-party', '--json');
    expect(cleared.json()).toMatchObject({ post_logout_redirect_uris: [], first_party: false });
    expect((await foyer('client', 'update', 'shop', '--no-third-party', '--json')).json()).toMatchObject({
      first_party: true,
    });
  });

  it('Updating a client checks the whole client like a registration', async () => {
    await foyer('client', 'add', ...shop);
    const run = await foyer('client', 'update', 'shop', '--redirect-uri', 'foo', '--scope', 'email');
    expect(run).toMatchObject({ code: 1, out: '', err: expect.stringContaining('Refused, 2 faults') });
    expect((await foyer('client', 'show', 'shop', '--json')).json()).toMatchObject({
      redirect_uris: ['https://shop.example.com/cb'],
    });
  });

  it('A client that becomes confidential gets a secret, and one that becomes public loses it', async () => {
    await foyer('client', 'add', ...shop, '--public');
    expect(await foyer('client', 'update', 'shop', '--new-secret')).toMatchObject({
      code: 1,
      err: expect.stringContaining('has no secret'),
    });
    expect((await foyer('client', 'update', 'shop', '--no-public', '--json')).json()).toHaveProperty('client_secret');
    expect((await foyer('client', 'update', 'shop', '--public', '--json')).json()).not.toHaveProperty('client_secret');
  });

  it('Only a confidential web client can be registered without PKCE, and without a nonce only beside that', async () => {
    for (const options of [['--public'], ['--native'], ['--device']]) {
      const refused = await foyer('client', 'add', ...shop, ...options, '--no-pkce');
      expect(refused).toMatchObject({
        code: 1,
        err: expect.stringContaining('no-pkce: only a web client with a secret'),
      });
    }
    const alone = await foyer('client', 'add', ...shop, '--no-nonce');
    expect(alone).toMatchObject({ code: 1, err: expect.stringContaining('no-nonce: goes together with no-pkce') });
    await foyer('client', 'add', ...shop, '--no-pkce', '--no-nonce');
    const exempt = (run: { json(): unknown }) => run.json() as { pkce_optional?: true; nonce_optional?: true };
    expect(exempt(await foyer('client', 'show', 'shop', '--json'))).toMatchObject({
      pkce_optional: true,
      nonce_optional: true,
    });
    expect(await foyer('client', 'update', 'shop', '--public')).toMatchObject({ code: 1 });
    expect((await foyer('client', 'list')).out).toContain('no PKCE, no nonce');
    expect((await foyer('client', 'update', 'shop', '--nonce')).out).toMatch(/^Kind .*, no PKCE$/m);
    expect(exempt(await foyer('client', 'update', 'shop', '--pkce', '--json'))).not.toHaveProperty('pkce_optional');
  });

  it('An update keeps the algorithm of the id tokens, whatever the default is', async () => {
    await foyer('client', 'add', ...shop, '--id-token-alg', 'ES256');
    const updated = await foyer('client', 'update', 'shop', '--name', 'Shop 2', '--json');
    expect(updated.json()).toMatchObject({ id_token_signed_response_alg: 'ES256' });
  });

  it('Required plans and entitlements must be in the catalogue and are removed by name', async () => {
    const refused = await foyer('client', 'add', ...shop, '--only-plan', '12', 'gold', '--only-entitlement', 'wings');
    expect(refused).toMatchObject({ code: 1, out: '' });
    expect(refused.err).toContain('only-plan gold: PLANS_FILE has none; known are 1, 2, 10, ');
    expect(refused.err).toContain('only-entitlement wings: PLANS_FILE has none; known are ');
    expect(refused.err).not.toContain('only-plan 12');
    const both = await foyer('client', 'add', ...shop, '--only-plan', 'gold', '--resource', 'https://api.example.com');
    expect(both.err).toMatch(/resource https:.* is not registered.*\n.*only-plan gold/);
    const added = await foyer('client', 'add', ...shop, '--only-plan', '12', '13', '--hidden', '--json');
    expect(added.json()).toMatchObject({ required_plans: ['12', '13'], hidden: true });
    expect((await foyer('client', 'update', 'shop', '--only-plan', 'gold')).code).toBe(1);
    await foyer('client', 'update', 'shop', '--only-entitlement', 'team:10');
    const { out } = await foyer('client', 'show', 'shop');
    expect(out).toMatch(/Members need +12 or 13 or team:10/);
    expect(out).toMatch(/Dashboard +not shown/);
    await foyer('client', 'update', 'shop', '--no-only-plan', '--no-only-entitlement', '--no-hidden');
    const open = (await foyer('client', 'show', 'shop', '--json')).json();
    for (const name of ['required_plans', 'required_entitlements', 'hidden']) expect(open).not.toHaveProperty(name);
  });

  it('Private and symmetric keys, keys of public clients, two sources and broken files are refused', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'foyer-keys-'));
    const file = async (content: unknown) => {
      const path = join(folder, `${randomUUID()}.json`);
      await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content));
      return path;
    };
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const good = await file({ keys: [publicKey.export({ format: 'jwk' })] });
    const refused: [content: string, options: string[], says: RegExp][] = [
      [await file({ keys: [privateKey.export({ format: 'jwk' })] }), [], /jwks: has a private key \(member "d"\)/],
      [await file({ keys: [{ kty: 'oct', k: 'AAAA' }] }), [], /jwks: has a private key \(member "k"\)/],
      [await file({ keys: [] }), [], /jwks: write a JSON Web Key Set/],
      [await file('{"keys"'), [], /jwks: .*JSON/],
      [join(folder, 'none.json'), [], /jwks: .*ENOENT/],
      [good, ['--public'], /jwks: a public client does not authenticate/],
      [good, ['--jwks-uri', 'https://shop.example.com/jwks'], /write one of them/],
    ];
    for (const [path, options, says] of refused) {
      const run = await foyer('client', 'add', ...shop, '--jwks', path, ...options);
      expect([run.code, run.out]).toEqual([1, '']);
      expect(run.err).toMatch(says);
    }
    const added = await foyer('client', 'add', ...shop, '--jwks', good, '--json');
    expect(added.json()).toMatchObject({
      token_endpoint_auth_method: 'private_key_jwt',
      jwks: { keys: [{ kty: 'EC' }] },
    });
    expect(added.json()).not.toHaveProperty('client_secret');
    expect(await foyer('client', 'update', 'shop', '--new-secret')).toMatchObject({ code: 1 });
    const back = await foyer('client', 'update', 'shop', '--no-jwks', '--json');
    expect(back.json()).toMatchObject({
      token_endpoint_auth_method: 'client_secret_basic',
      client_secret: expect.any(String),
    });
    await rm(folder, { recursive: true });
  });
});
