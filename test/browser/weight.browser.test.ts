import type { Request } from 'playwright-core';
import { chromiumForTests } from '../support/chromium.ts';
import { anyBackend } from '../support/stores.ts';
import { type Sandbox, startSandbox } from './sandbox.ts';

const mostScriptBytes = 3 * 1024;
const mostWokenBytes = 15 * 1024;

describe('the weight of the sign-in page', () => {
  const { newPage } = chromiumForTests();
  let sandbox: Sandbox;
  beforeAll(async () => {
    sandbox = await startSandbox(anyBackend);
  });
  afterAll(() => sandbox?.close());

  const bytesOf = async (requests: Request[]) => {
    const sizes = await Promise.all(requests.map((request) => request.sizes()));
    return sizes.reduce((sum, size) => sum + size.responseBodySize + size.responseHeadersSize, 0);
  };

  it(`The page loads less than ${mostScriptBytes} bytes of JavaScript, and less than ${mostWokenBytes} once all of it is used`, async () => {
    const page = await newPage();
    const finished: Request[] = [];
    const ofType = (type: string) => finished.filter((request) => request.resourceType() === type);
    page.on('requestfinished', (request) => finished.push(request));
    await page.goto(sandbox.foyer.url, { waitUntil: 'networkidle' });
    const figures = await Promise.all(
      ['document', 'script', 'stylesheet', 'font'].map(async (type) => `${type}: ${await bytesOf(ofType(type))} bytes`),
    );
    const asleep = await bytesOf(ofType('script'));
    await page.getByLabel('Password', { exact: true }).fill('x');
    await page.getByRole('button', { name: 'Show password' }).click();
    await page.locator('#field-password[type=text]').waitFor();
    const awake = await bytesOf(ofType('script'));
    console.info(`${figures.join(', ')}; script when touched: ${awake} bytes`);
    expect(asleep).toBeGreaterThan(0);
    expect(asleep).toBeLessThan(mostScriptBytes);
    expect(awake).toBeGreaterThan(asleep);
    expect(awake).toBeLessThan(mostWokenBytes);
    const urls = finished.map((request) => request.url());
    expect(new Set(urls).size).toBe(urls.length);
  });
});
