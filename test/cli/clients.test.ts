import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Cli, cliOn } from '../support/cli.ts';
import { backends } from '../support/stores.ts';

const shop = ['--id', 'shop', '--name', 'The Shop', '--redirect-uri', 'https://shop.example.com/cb'];

describe.each(backends)('foyer client on $name', (backend) => {
  let foyer: Cli;
  let remove: () => Promise<void>;
  beforeEach(async () => {
    const reserved = await backend.reserve({ migrated: true });
    remove = reserved.remove;
    foyer = cliOn(reserved.urls);
  });
  afterEach(() => remove());

  it('Adding a client prints a registration in the names of RFC 7591 with the secret', async () => {
    const run = await foyer(
      'client',
      'add',
      ...shop,
      'https://shop.example.com/cb2',
      '--logout-uri',
      'https://shop.example.com/out',
      '--logback-uri',
      'https://shop.example.com/in',
      '--logo',
      'https://shop.example.com/logo.png',
      '--scope',
      'openid email',
      'offline_access',
      '--response-type',
      'code',
      'id_token',
      '--id-token-alg',
      'RS256',
      '--third-party',
      '--legacy',
      '--json',
    );
    expect(run).toMatchObject({ code: 0, err: '' });
    expect(run.json()).toEqual({
      client_id: 'shop',
      client_name: 'The Shop',
      client_secret: expect.stringMatching(/^foyer_cs_[\w-]{43}$/),
      client_secret_expires_at: 0,
      redirect_uris: ['https://shop.example.com/cb', 'https://shop.example.com/cb2'],
      post_logout_redirect_uris: ['https://shop.example.com/out'],
      initiate_login_uri: 'https://shop.example.com/in',
      logo_uri: 'https://shop.example.com/logo.png',
      application_type: 'web',
      token_endpoint_auth_method: 'client_secret_basic',
      grant_types: ['authorization_code', 'refresh_token', 'implicit'],
      response_types: ['code', 'id_token'],
      scope: 'openid email offline_access',
      id_token_signed_response_alg: 'RS256',
      first_party: false,
      legacy: true,
    });
  });

  it('Adding a client shows the secret once, and neither show nor list nor the database has it', async () => {
    const added = await foyer('client', 'add', ...shop);
    const secret = /foyer_cs_[\w-]{43}/.exec(added.out)?.[0] ?? 'none';
    expect(added.out).toMatch(/^Client shop is added/);
    expect(added.out).toMatch(/^Client secret {3}foyer_cs_\S+ {2}\(shown this once/m);
    for (const argv of [['show', 'shop'], ['show', 'shop', '--json'], ['list'], ['list', '--json']]) {
      const { code, out } = await foyer('client', ...argv);
      expect(code).toBe(0);
      expect(out).toContain('The Shop');
      expect(out).not.toContain(secret);
      expect(out).not.toMatch(/client_secret"/);
    }
  });

  it('Public and native clients get no secret', async () => {
    const spa = await foyer('client', 'add', ...shop, '--public', '--json');
    expect(spa.json()).toMatchObject({ token_endpoint_auth_method: 'none', application_type: 'web' });
    expect(spa.json()).not.toHaveProperty('client_secret');
    const app = await foyer(
      'client',
      'add',
      '--id',
      'app',
      '--name',
      'App',
      '--native',
      '--redirect-uri',
      'com.example.app:/cb',
      '--json',
    );
    expect(app.json()).toMatchObject({ token_endpoint_auth_method: 'none', application_type: 'native' });
    expect(app.json()).not.toHaveProperty('client_secret');
  });

  it('A service needs no redirect address, gets a secret and may have the scopes of client credentials', async () => {
    const service = ['--id', 'billing', '--name', 'Billing', '--service'];
    const added = await foyer('client', 'add', ...service, '--scope', 'users:read', 'plans:read', '--json');
    expect(added.json()).toMatchObject({
      client_secret: expect.stringMatching(/^foyer_cs_/),
      grant_types: ['client_credentials'],
      redirect_uris: [],
      response_types: [],
      scope: 'users:read plans:read',
    });
    expect((await foyer('client', 'list')).out).toMatch(
      /^billing +Billing +web, confidential, first-party, service +-$/m,
    );
    const both = await foyer(
      'client',
      'update',
      'billing',
      '--redirect-uri',
      'https://billing.example.com/cb',
      '--scope',
      'openid users:read',
      '--json',
    );
    expect(both.json()).toMatchObject({ grant_types: ['authorization_code', 'refresh_token', 'client_credentials'] });
    expect(await foyer('client', 'update', 'billing', '--no-service')).toMatchObject({
      code: 1,
      err: expect.stringContaining('scope users:read: is for clients that act for themselves'),
    });
    const plain = await foyer('client', 'update', 'billing', '--no-service', '--scope', 'openid', '--json');
    expect(plain.json()).toMatchObject({ grant_types: ['authorization_code', 'refresh_token'] });
    expect((await foyer('client', 'add', '--id', 'x', '--name', 'X', '--service')).code).toBe(1);
  });

  it('Adding a faulty client lists every fault at once, exits with 1 and adds nothing', async () => {
    const run = await foyer(
      'client',
      'add',
      '--id',
      'a b',
      '--name',
      ' ',
      '--redirect-uri',
      'http://shop.example.com/cb',
      'https://*.example.com/cb',
      '--logout-uri',
      'nowhere',
      '--logo',
      'ftp://x/y',
      '--scope',
      'email',
      'admin',
      '--response-type',
      'token',
      '--id-token-alg',
      'HS256',
    );
    expect({ code: run.code, out: run.out }).toEqual({ code: 1, out: '' });
    expect(run.err).toMatch(/^Refused, 10 faults:\n/);
    for (const flag of [
      'id',
      'name',
      'redirect-uri http',
      'redirect-uri https',
      'logout-uri',
      'logo',
      'scope admin',
      'scope:',
      'response-type',
      'id-token-alg',
    ]) {
      expect(run.err).toContain(`\n  - ${flag}`);
    }
    expect((await foyer('client', 'list')).out).toBe('No clients yet.\n');
  });

  it('A client with id tokens in the query needs a redirect address that ends with a slash', async () => {
    const refused = await foyer('client', 'add', ...shop, '--legacy-id-token-redirect');
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('ends with a slash') });
    const final = ['--redirect-uri', 'https://shop.example.com/cb/'];
    expect((await foyer('client', 'add', ...shop, ...final, '--legacy-id-token-redirect')).code).toBe(0);
  });

  it('Adding an id that is taken is refused, and the first client keeps its secret', async () => {
    await foyer('client', 'add', ...shop);
    const again = await foyer('client', 'add', ...shop, '--name', 'Another');
    expect(again).toMatchObject({ code: 1, out: '', err: expect.stringContaining('id shop: is taken') });
    expect((await foyer('client', 'show', 'shop', '--json')).json()).toMatchObject({ client_name: 'The Shop' });
  });

  it('Updating a client changes what is named and keeps the rest', async () => {
    await foyer(
      'client',
      'add',
      ...shop,
      '--logo',
      'https://shop.example.com/logo.png',
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
      '--json',
    );
    expect(run.json()).toMatchObject({
      client_name: 'The Shop',
      redirect_uris: ['https://new.example.com/cb'],
      post_logout_redirect_uris: ['https://shop.example.com/out'],
      scope: 'openid profile email phone',
    });
    expect(run.json()).not.toHaveProperty('logo_uri');
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

  it('Listing clients aligns its columns', async () => {
    await foyer('client', 'add', ...shop, 'https://shop.example.com/cb2');
    await foyer('client', 'add', '--id', 'a', '--name', 'Ä', '--public', '--redirect-uri', 'https://a.example.com/');
    expect((await foyer('client', 'list')).out.split('\n')).toEqual([
      'ID    NAME      KIND                            REDIRECT URI',
      'a     Ä         web, public, first-party        https://a.example.com/',
      'shop  The Shop  web, confidential, first-party  https://shop.example.com/cb and 1 more',
      '',
    ]);
    expect((await foyer('client', 'list', '--json')).json<{ client_id: string }[]>().map((c) => c.client_id)).toEqual([
      'a',
      'shop',
    ]);
  });

  it('A client that does not exist is not found and the exit code is 3', async () => {
    for (const argv of [
      ['show', 'x'],
      ['update', 'x', '--name', 'X'],
      ['update', 'x', '--new-secret'],
      ['remove', 'x'],
    ]) {
      expect(await foyer('client', ...argv)).toMatchObject({ code: 3, out: '', err: 'There is no client x.\n' });
    }
    await foyer('client', 'add', ...shop);
    expect((await foyer('client', 'remove', 'shop', '--json')).json()).toEqual({
      client_id: 'shop',
      removed: true,
      ended: { grants: 0 },
    });
    expect((await foyer('client', 'remove', 'shop')).code).toBe(3);
  });

  it('Attack: a client name with terminal control characters is printed with visible marks in their place', async () => {
    await foyer(
      'client',
      'add',
      '--id',
      'evil',
      '--name',
      'x\u001b[2J\u009b31m\u202ey',
      '--redirect-uri',
      'https://e.example.com/',
    );
    for (const argv of [['list'], ['show', 'evil'], ['list', '--json']]) {
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
      expect((await foyer('client', ...argv)).out).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
    }
    expect((await foyer('client', 'list')).out).toContain('x␣[2J␣31m␣y');
  });
  describe.each(['account:security', 'account:payments'])('the scope %s', (scope) => {
    const refusal = (why: string) => `scope ${scope}: ${why}; only confidential web clients of the marketplace get it`;
    const kinds: [string, string[], string][] = [
      ['third-party', ['--third-party'], 'a third party runs this client'],
      ['native', ['--native'], 'a native client keeps no secret'],
      ['public', ['--public'], 'a public client keeps no secret'],
      ['device', ['--device'], 'a device client keeps no secret'],
    ];

    it.each(kinds)('Adding a %s client with the scope is refused', async (_kind, options, why) => {
      const run = await foyer('client', 'add', ...shop, ...options, '--scope', 'openid', scope);
      expect(run.code).toBe(1);
      expect(run.err).toContain(refusal(why));
      expect((await foyer('client', 'list', '--json')).json()).toEqual([]);
    });

    it.each(kinds)('Updating a client that has the scope to be a %s client is refused', async (_kind, options, why) => {
      await foyer('client', 'add', ...shop, '--scope', 'openid', scope);
      const before = (await foyer('client', 'show', 'shop', '--json')).json();
      const run = await foyer('client', 'update', 'shop', ...options);
      expect(run.code).toBe(1);
      expect(run.err).toContain(refusal(why));
      expect((await foyer('client', 'show', 'shop', '--json')).json()).toEqual(before);
    });

    it.each(kinds)('Updating a %s client to have the scope is refused', async (_kind, options, why) => {
      await foyer('client', 'add', ...shop, ...options, '--scope', 'openid');
      const run = await foyer('client', 'update', 'shop', '--scope', 'openid', scope);
      expect(run.code).toBe(1);
      expect(run.err).toContain(refusal(why));
    });

    it('A confidential web client of the marketplace gets the scope, and foyer doctor names it', async () => {
      const added = await foyer('client', 'add', ...shop, '--scope', 'openid', scope, '--json');
      expect(added.json()).toMatchObject({ scope: `openid ${scope}`, first_party: true });
      const { findings } = (await foyer('doctor', '--json')).json() as { findings: object[] };
      expect(findings).toContainEqual(
        expect.objectContaining({
          id: `clients.${scope.replace(':', '-')}`,
          level: 'note',
          seen: `1 client with the scope ${scope}: shop.`,
        }),
      );
    });
  });

  it('Adding and updating warn of the scope account of a third party, by either name', async () => {
    const warning = 'Warning: a third party gets the scope account';
    for (const [n, scope] of ['account', 'aws.cognito.signin.user.admin'].entries()) {
      const id = `partner${n}`;
      const partner = ['--id', id, '--name', 'Partner', '--redirect-uri', 'https://partner.example.com/cb'];
      expect((await foyer('client', 'add', ...partner, '--third-party', '--scope', 'openid', scope)).out).toContain(
        warning,
      );
      expect((await foyer('client', 'update', id, '--name', 'Partner & Sons')).out).toContain(warning);
      expect((await foyer('client', 'update', id, '--scope', 'openid')).out).not.toContain(warning);
    }
    expect((await foyer('client', 'add', ...shop, '--scope', 'openid', 'account')).out).not.toContain(warning);
  });

  it('Adding and updating warn that a legacy client cannot detect an injected id token, until it is not legacy', async () => {
    const [nonce, query] = ['Warning: a legacy client may send no nonce', 'Warning: id tokens in the query'];
    const warned = ({ code, out }: { code: number; out: string }) => [code, out.includes(nonce), out.includes(query)];
    expect(warned(await foyer('client', 'add', ...shop))).toEqual([0, false, false]);
    const older = ['--id', 'older', '--name', 'Older', '--redirect-uri', 'https://older.example.com/cb/'];
    expect(warned(await foyer('client', 'add', ...older, '--legacy'))).toEqual([0, true, false]);
    const oldest = ['--id', 'oldest', '--name', 'Oldest', '--redirect-uri', 'https://oldest.example.com/cb/'];
    expect(warned(await foyer('client', 'add', ...oldest, '--legacy-id-token-redirect'))).toEqual([0, true, true]);
    expect(warned(await foyer('client', 'update', 'older', '--name', 'Old'))).toEqual([0, true, false]);
    expect(warned(await foyer('client', 'update', 'older', '--no-legacy'))).toEqual([0, false, false]);
  });

  it('Setting calls-per-minute gives a service its own limit for each call, and it can be removed again', async () => {
    const batch = ['--id', 'batch', '--name', 'Batch', '--service', '--scope', 'users:read'];
    const added = await foyer('client', 'add', ...batch, '--calls-per-minute', '1200', '--json');
    expect(added.json()).toMatchObject({ calls_per_minute: 1_200 });
    expect((await foyer('client', 'show', 'batch')).out).toMatch(/^Calls a minute +1200 of each call$/m);
    expect((await foyer('client', 'update', 'batch', '--name', 'Night', '--json')).json()).toMatchObject({
      calls_per_minute: 1_200,
    });
    const cleared = await foyer('client', 'update', 'batch', '--no-calls-per-minute', '--json');
    expect(cleared.json()).not.toHaveProperty('calls_per_minute');
  });

  it.each(['0', '-1', '1.5', '100001', 'many', ''])('The value %j of calls-per-minute is refused', async (calls) => {
    const batch = ['--id', 'batch', '--name', 'Batch', '--service', '--scope', 'users:read'];
    const run = await foyer('client', 'add', ...batch, `--calls-per-minute=${calls}`);
    expect([run.code, run.err]).toEqual([1, expect.stringContaining('calls-per-minute: write a whole number')]);
  });

  it('Only a service may have calls-per-minute, also after a change', async () => {
    const fault = 'calls-per-minute: is for clients that act for themselves';
    expect((await foyer('client', 'add', ...shop, '--calls-per-minute', '5')).err).toContain(fault);
    await foyer('client', 'add', ...shop, '--service', '--calls-per-minute', '5', '--scope', 'openid', 'users:read');
    expect((await foyer('client', 'update', 'shop', '--no-service', '--scope', 'openid')).err).toContain(fault);
  });
});
