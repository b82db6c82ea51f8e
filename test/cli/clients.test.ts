import { type Cli, eachCli } from '../support/cli.ts';
import { backends } from '../support/stores.ts';
import { shop } from './shop-client.ts';

describe.each(backends)('foyer client on $name', (backend) => {
  let foyer: Cli;
  eachCli(backend, (cli) => {
    foyer = cli;
  });

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

  it('Adding a client names the algorithm of its id tokens: RS256 for a confidential web client, else ES256', async () => {
    const added = await foyer('client', 'add', ...shop);
    expect(added.out).toMatch(/^Id tokens +signed with RS256: your library must expect it$/m);
    const others = [['--public'], ['--native', '--redirect-uri', 'com.example.app:/cb'], ['--id-token-alg', 'ES256']];
    for (const [index, options] of others.entries()) {
      const run = await foyer('client', 'add', ...shop, '--id', `other${index}`, ...options);
      expect(run.out).toMatch(/^Id tokens +signed with ES256: your library must expect it$/m);
    }
  });

  it('Adding a client says that its dashboard tile has no Open button, unless it has a logback address or no tile', async () => {
    expect((await foyer('client', 'add', ...shop)).out).toMatch(
      /^Dashboard +a tile without Open: --logback-uri gives/m,
    );
    const whole = await foyer(
      'client',
      'add',
      ...shop,
      '--id',
      'whole',
      '--logback-uri',
      'https://shop.example/sign-in',
    );
    expect(whole.out).not.toMatch(/^Dashboard/m);
    const service = ['--id', 'jobs', '--name', 'Jobs', '--service', '--scope', 'users:read'];
    expect((await foyer('client', 'add', ...service)).out).not.toMatch(/^Dashboard/m);
  });

  it('The profile --certification registers what the plans of the OpenID Foundation send', async () => {
    const run = await foyer('client', 'add', ...shop, '--certification', '--json');
    expect(run.json()).toMatchObject({
      scope: 'openid profile email phone address offline_access',
      id_token_signed_response_alg: 'RS256',
      first_party: true,
      pkce_optional: true,
      nonce_optional: true,
      claims_without_scope: true,
    });
    const warned = await foyer('client', 'update', 'shop', '--name', 'Suite');
    expect(warned.out).toContain('without PKCE and without a nonce');
    const own = await foyer('client', 'update', 'shop', '--certification', '--scope', 'openid', '--nonce', '--json');
    expect(own.json()).toMatchObject({ scope: 'openid', pkce_optional: true });
    expect(own.json()).not.toHaveProperty('nonce_optional');
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
      '--policy-uri',
      'javascript:alert(1)',
      '--scope',
      'email',
      'admin',
      '--response-type',
      'token',
      '--id-token-alg',
      'HS256',
    );
    expect({ code: run.code, out: run.out }).toEqual({ code: 1, out: '' });
    expect(run.err).toMatch(/^Refused, 11 faults:\n/);
    for (const flag of [
      'id',
      'name',
      'redirect-uri http',
      'redirect-uri https',
      'logout-uri',
      'logo',
      'policy-uri',
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
});
