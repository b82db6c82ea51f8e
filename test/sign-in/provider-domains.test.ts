import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import type { TestProviders } from '../support/providers.ts';
import { anyBackend } from '../support/stores.ts';
import { inInstagram, type ProviderSetup, press, startWithProviders } from './provider-steps.ts';

let setup: ProviderSetup;
let foyer: TestFoyer;
let providers: TestProviders;
beforeAll(async () => {
  setup = await startWithProviders();
  ({ foyer, providers } = setup);
});
afterAll(() => setup?.close());

describe('an address of a provider’s domain', () => {
  const asked = async (fields: Record<string, string>) => {
    const url = await press(foyer.browser(), '/sign-in', fields);
    return { to: `${url.origin}${url.pathname}`, hint: url.searchParams.get('login_hint') };
  };
  const acme = { to: '', hint: '' };
  beforeAll(async () => {
    Object.assign(acme, await asked({ username: 'Nobody@ACME.example', password: '' }));
  });

  it('An address of the domain leads to its provider without a password', () => {
    expect(acme.to.startsWith(providers.url)).toBe(true);
    expect(acme.hint).toBe('nobody@acme.example');
  });

  it('A correct password still signs the user in', async () => {
    const member = await foyer.addUser({ email: 'right@acme.example' });
    const answer = await foyer.browser().post('/sign-in', { username: member.email, password });
    expect(answer.status).toBe(303);
  });

  it('A wrong password leads to the provider, whether or not the address belongs to a user', async () => {
    await foyer.addUser({ email: 'member@acme.example' });
    await foyer.addUser({ email: 'federated@acme.example', passwordHash: null });
    for (const username of ['member@acme.example', 'federated@acme.example', 'stranger@acme.example']) {
      expect(await asked({ username, password: 'not the password' })).toEqual({ ...acme, hint: username });
    }
  });

  it('Attack: too many guesses by others do not keep a user from the provider', async () => {
    const username = 'guessed@acme.example';
    await foyer.addUser({ email: username });
    const texts = new Set<string>();
    for (let guess = 0; guess < 12; guess += 1) texts.add((await asked({ username, password: `guess ${guess}` })).to);
    expect([...texts]).toEqual([acme.to]);
  });

  it('The page stays when the provider does not accept an embedded browser', async () => {
    const other = await startFoyer(
      anyBackend,
      providers.environment((file) => ({ ...file, google: { domains: ['workspace.example'] } })),
    );
    try {
      const browser = other.browser();
      const username = 'vera@workspace.example';
      const embedded = await browser.post('/sign-in', { username }, { 'user-agent': inInstagram });
      expect(embedded.status).toBe(400);
      expect((await press(browser, '/sign-in', { username })).searchParams.get('login_hint')).toBe(username);
    } finally {
      await other.close();
    }
  });

  it('An address of another domain or a subdomain needs its password', async () => {
    for (const username of ['vera@example.com', 'vera@sub.acme.example', '+32470123456', 'acme.example']) {
      expect((await foyer.browser().post('/sign-in', { username })).status).toBe(400);
    }
  });
});
