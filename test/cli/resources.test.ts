import { type Cli, eachCli } from '../support/cli.ts';
import { backends } from '../support/stores.ts';

const api = 'https://api.example.com/';

describe.each(backends)('foyer resource on $name', (backend) => {
  let foyer: Cli;
  eachCli(backend, (cli) => {
    foyer = cli;
  });

  it('Resource servers are added, listed and removed', async () => {
    expect((await foyer('resource', 'list')).out).toBe('No resource servers yet.\n');
    const added = await foyer('resource', 'add', api, '--scope', 'orders:read orders:write', 'orders:read', '--json');
    expect(added.json()).toEqual({ identifier: api, scopes: ['orders:read', 'orders:write'], alg: 'ES256' });
    expect((await foyer('resource', 'list')).out).toBe(
      'IDENTIFIER                SCOPES                    SIGNED WITH\n' +
        'https://api.example.com/  orders:read orders:write  ES256\n',
    );
    expect((await foyer('resource', 'list', '--json')).json()).toEqual([added.json()]);
    expect((await foyer('resource', 'remove', api, '--json')).json()).toEqual({
      identifier: api,
      removed: true,
      clients: [],
    });
    expect(await foyer('resource', 'remove', api)).toMatchObject({ code: 3, err: expect.stringContaining(api) });
  });

  it('Adding refuses an invalid resource, one that exists already and names of Foyer’s own', async () => {
    const bad = await foyer('resource', 'add', 'api#x', '--scope', 'openid', 'users:read', 'a"b');
    expect(bad).toMatchObject({ code: 1, out: '' });
    for (const fault of ['api#x: is not an absolute URI', 'scope openid:', 'scope users:read:', 'scope a"b:']) {
      expect(bad.err).toContain(fault);
    }
    await foyer('resource', 'add', api, '--scope', 'a');
    expect(await foyer('resource', 'add', api, '--scope', 'b')).toMatchObject({
      code: 1,
      err: expect.stringContaining('is there already'),
    });
  });

  it('Adding sets how the tokens of the resource server are signed', async () => {
    const added = await foyer('resource', 'add', api, '--scope', 'a', '--alg', 'RS256', '--json');
    expect(added.json()).toMatchObject({ alg: 'RS256' });
    expect((await foyer('resource', 'list', '--json')).json()).toEqual([added.json()]);
    expect(await foyer('resource', 'add', `${api}2`, '--scope', 'a', '--alg', 'none')).toMatchObject({ code: 2 });
  });

  it('A client may request a registered resource and no other', async () => {
    const shop = ['--id', 'shop', '--name', 'Shop', '--redirect-uri', 'https://shop.example.com/cb'];
    expect(await foyer('client', 'add', ...shop, '--resource', api)).toMatchObject({
      code: 1,
      err: expect.stringContaining(`resource ${api}: is not registered`),
    });
    await foyer('resource', 'add', api, '--scope', 'orders:read');
    expect((await foyer('client', 'add', ...shop, '--resource', api, '--json')).json()).toMatchObject({
      resources: [api],
    });
    expect((await foyer('client', 'show', 'shop')).out).toMatch(/^Resources +https:\/\/api\.example\.com\/$/m);
    expect((await foyer('client', 'update', 'shop', '--name', 'Shop 2', '--json')).json()).toMatchObject({
      resources: [api],
    });
    expect((await foyer('resource', 'remove', api)).out).toContain('These clients still name it: shop.');
    expect((await foyer('client', 'update', 'shop', '--no-resource', '--json')).json()).not.toHaveProperty('resources');
  });

  it('A service may be for only a resource server', async () => {
    await foyer('resource', 'add', api, '--scope', 'orders:read');
    const run = await foyer('client', 'add', '--id', 's', '--name', 'S', '--service', '--resource', api, '--json');
    expect(run.json()).toMatchObject({ scope: '', resources: [api], grant_types: ['client_credentials'] });
  });
});
