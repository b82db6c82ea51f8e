import { answerCode } from '../support/devices.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { anyBackend } from '../support/stores.ts';
import { waitFor } from '../support/wait-for.ts';
import { type Example, startExample } from './example-process.ts';

describe('the example of an app without a browser', () => {
  let foyer: TestFoyer;
  const running: Example[] = [];
  beforeAll(async () => {
    foyer = await startFoyer(anyBackend);
    await foyer.addClient({ id: 'device-example', public: true, device: true, redirectUris: [] });
  });
  afterAll(async () => {
    await Promise.all(running.map((example) => example.stop()));
    await foyer?.close();
  });

  async function start() {
    const example = await startExample('device-app/device.mjs', { ISSUER: foyer.url });
    running.push(example);
    await waitFor(() => expect(example.said()).toContain('It works for 10 minutes.'));
    const [, code = ''] = /enter the code ([\w-]+)/.exec(example.said()) ?? [];
    return { example, code };
  }

  it('The example shows address, code and QR code, greets the user who agreed and reports a refusal', async () => {
    const user = await foyer.addUser({ givenName: 'Ida', familyName: 'Moreau' });
    const browser = await foyer.signedIn(user);
    // Side by side, for each waits as long as Foyer says.
    const [agreed, refused] = await Promise.all([start(), start()]);
    expect(agreed.example.said()).toContain(`is ready: ${foyer.url}/device\n`);
    expect(agreed.example.said()).toMatch(/[█▀▄]{10}/);
    await answerCode(browser, agreed.code);
    await answerCode(browser, refused.code, 'abort');
    expect(await Promise.all([agreed.example.ended, refused.example.ended])).toEqual([0, 1]);
    expect(agreed.example.said()).toContain('Hello, Ida Moreau\n');
    expect(refused.example.said()).toContain('The sign-in was refused on the other device.\n');
  });
});
