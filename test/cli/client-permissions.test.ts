import { type Cli, eachCli } from '../support/cli.ts';
import { backends } from '../support/stores.ts';
import { shop } from './shop-client.ts';

describe.each(backends)('permissions of foyer client on $name', (backend) => {
  let foyer: Cli;
  eachCli(backend, (cli) => {
    foyer = cli;
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

  it('CALL=N in calls-per-minute limits one call, and new values replace all earlier ones', async () => {
    const batch = ['--id', 'batch', '--name', 'Batch', '--service', '--scope', 'users:read'];
    const added = await foyer(
      'client',
      'add',
      ...batch,
      '--calls-per-minute',
      '600',
      'listUserWithPoolId=3000',
      '--json',
    );
    expect(added.json()).toMatchObject({
      calls_per_minute: 600,
      calls_per_minute_by_call: { listUserWithPoolId: 3_000 },
    });
    expect((await foyer('client', 'show', 'batch')).out).toMatch(
      /^Calls a minute +600 of each call, 3000 of listUserWithPoolId$/m,
    );
    const changed = await foyer('client', 'update', 'batch', '--calls-per-minute', 'messageSent=50', '--json');
    expect(changed.json()).toMatchObject({ calls_per_minute_by_call: { messageSent: 50 } });
    expect(changed.json()).not.toHaveProperty('calls_per_minute');
    const cleared = await foyer('client', 'update', 'batch', '--no-calls-per-minute', '--json');
    expect(cleared.json()).not.toHaveProperty('calls_per_minute_by_call');
    for (const [value, fault] of [
      ['nothing=5', 'no service calls nothing'],
      ['signUp=5', 'no service calls signUp'],
      ['messageSent=0', 'write a whole number'],
    ] as const) {
      expect((await foyer('client', 'update', 'batch', '--calls-per-minute', value)).err).toContain(fault);
    }
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
