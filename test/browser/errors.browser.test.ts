import { demoMember } from '../../sandbox/index.ts';
import { chromiumForTests } from '../support/chromium.ts';
import { anyBackend } from '../support/stores.ts';
import { type Sandbox, startSandbox } from './sandbox.ts';
import { goOnAs, submitSignIn } from './steps.ts';

describe('error pages', () => {
  const { newPage } = chromiumForTests({ profilesStay: true });
  let sandbox: Sandbox;
  let url: string;
  beforeAll(async () => {
    sandbox = await startSandbox(anyBackend);
    url = sandbox.foyer.url;
  });
  afterAll(() => sandbox?.close());

  it.each([
    { path: '/no-such-page', heading: 'Sorry, we couldn’t fetch that page', followed: true },
    { path: '/tos/no-such-page', heading: 'Sorry, we couldn’t fetch that page' },
    { path: '/settings/no-such-page', heading: 'Oops – page not found', followed: true },
    { path: '/signup/no-such-page', heading: 'Oops – page not found' },
  ])('The unknown page $path has the heading: $heading', async ({ path, heading, followed }) => {
    const page = await newPage();
    const response = await page.goto(url + path);
    expect(response?.status()).toBe(404);
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe(heading);
    const text = 'The page you’re looking for might have been removed or is temporarily unavailable.';
    expect(await page.getByText(text).count()).toBe(heading.startsWith('Sorry') ? 1 : 0);
    const link = page.getByRole('link', { name: 'Go to the start page' });
    expect(await link.getAttribute('href')).toBe('/');
    if (!followed) return;
    await link.click();
    await page.getByLabel('Email or phone').waitFor();
  });

  const authorize = (parameters: Record<string, string>) =>
    `/oauth2/authorize?${new URLSearchParams({
      response_type: 'code',
      client_id: 'demo-app',
      scope: 'openid',
      code_challenge: 'x'.repeat(43),
      code_challenge_method: 'S256',
      redirect_uri: `${sandbox.demoUrl}/callback`,
      ...parameters,
    })}`;

  it.each([
    {
      fault: 'an unknown client',
      heading: 'We don’t know this app',
      path: () => authorize({ client_id: 'unknown-client' }),
    },
    {
      fault: 'an address that is not registered',
      heading: 'This return address isn’t registered',
      path: () => authorize({ redirect_uri: `${sandbox.demoUrl}/other` }),
    },
    {
      fault: 'a request that has expired',
      heading: 'This request has expired',
      path: () => '/verify-user?authorization_code=long-gone',
    },
  ])('The error page of $fault has a reference that is also in the log', async ({ heading, path }) => {
    const page = await newPage();
    await goOnAs(page, await sandbox.foyer.signedIn(await sandbox.foyer.addUser()), url);
    const response = await page.goto(url + path());
    expect(response?.status()).toBe(400);
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe(heading);
    const reference = (await page.locator('.reference code').textContent()) ?? '';
    expect(reference).toMatch(/^\S{6,}$/);
    const line = sandbox.foyer
      .logged()
      .split('\n')
      .find((text) => text.includes(reference) && text.includes('request refused'));
    expect(line).toBeDefined();
  });

  it('A visitor with an expired request gets the message to start again at the app', async () => {
    const page = await newPage();
    const response = await page.goto(`${url}/?authorization_code=long-gone`);
    expect(response?.status()).toBe(400);
    expect(await page.getByRole('alert').textContent()).toBe(
      'The request that brought you here has expired. Please go back to the app and start again.',
    );
  });

  it('A visitor with an expired request of a known client is led to the client, which starts a new one', async () => {
    const page = await newPage();
    await page.goto(`${url}/?authorization_code=long-gone&client_id=demo-app`);
    await submitSignIn(page);
    await page.waitForURL(`${sandbox.demoUrl}/`);
    await page.getByText(demoMember.email).first().waitFor();
  });
});
