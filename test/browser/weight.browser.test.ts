import type { Request } from 'playwright-core';
import { chromiumForTests } from '../support/chromium.ts';
import { backends } from '../support/stores.ts';
import { type Sandbox, startSandbox } from './sandbox.ts';

const [backend] = backends;
if (!backend) throw new Error('there is no backend to run on');

const mostScriptBytes = 3 * 1024;

describe('what the sign-in page makes a browser load', () => {
  const { newPage } = chromiumForTests();
  let sandbox: Sandbox;
  beforeAll(async () => {
    sandbox = await startSandbox(backend);
  });
  afterAll(() => sandbox?.close());

  it(`is less than ${mostScriptBytes} bytes of JavaScript, headers included, and nothing twice`, async () => {
    const page = await newPage();
    const finished: Request[] = [];
    page.on('requestfinished', (request) => finished.push(request));
    await page.goto(sandbox.foyer.url, { waitUntil: 'networkidle' });
    const loads = await Promise.all(
      finished.map(async (request) => {
        const { responseBodySize, responseHeadersSize } = await request.sizes();
        return { url: request.url(), type: request.resourceType(), bytes: responseBodySize + responseHeadersSize };
      }),
    );
    const bytesOf = (type: string) =>
      loads.filter((load) => load.type === type).reduce((sum, { bytes }) => sum + bytes, 0);
    console.info(
      ['document', 'script', 'stylesheet', 'font'].map((type) => `${type}: ${bytesOf(type)} bytes`).join(', '),
    );
    expect(bytesOf('script')).toBeGreaterThan(0);
    expect(bytesOf('script')).toBeLessThan(mostScriptBytes);
    expect(new Set(loads.map(({ url }) => url)).size).toBe(loads.length);
  });
});
