import { scanned } from '../account/mfa-steps.ts';
import { type Sandbox, startSandbox } from '../browser/sandbox.ts';
import { answerCode } from '../support/devices.ts';
import { sendRequest } from '../support/send-request.ts';
import { anyBackend } from '../support/stores.ts';

/** The page that plays a device without a browser, on the sandbox's other site. */
describe('the demo television', () => {
  let sandbox: Sandbox;
  beforeAll(async () => {
    sandbox = await startSandbox(anyBackend);
  });
  afterAll(() => sandbox?.close());

  const television = () => `${sandbox.demoUrl}/television`;
  const look = async () => {
    const answer = await sendRequest(television());
    return { refresh: answer.headers.get('refresh'), html: await answer.text() };
  };
  const press = () => sendRequest(television(), { method: 'POST', redirect: 'manual' });
  const codeOf = (html: string) => />([B-Z]{4}-[B-Z]{4})</.exec(html)?.[1] ?? '';

  it('The television shows a code, polls until the user approves and shows the user, and a second press switches it off', async () => {
    expect((await look()).html).toContain('Show a code');
    expect((await press()).status).toBe(303);
    const waiting = await look();
    expect([waiting.refresh, codeOf(waiting.html)]).toEqual(['6', expect.stringMatching(/^.{9}$/)]);
    expect(waiting.html).toContain(`href="${sandbox.foyer.url}/device?user_code=${codeOf(waiting.html)}"`);
    // A phone scans it and need not type the code.
    expect(scanned(waiting.html)).toBe(`${sandbox.foyer.url}/device?user_code=${codeOf(waiting.html)}`);
    const user = await sandbox.foyer.addUser({ givenName: 'Vera', familyName: 'Lindqvist' });
    await answerCode(await sandbox.foyer.signedIn(user), codeOf(waiting.html));
    const signedIn = await look();
    expect(signedIn.html).toContain('Signed in as Vera Lindqvist');
    expect(signedIn.refresh).toBeNull();
    await press();
    expect((await look()).html).toContain('Show a code');
  });

  it('The television reports a refusal once', async () => {
    await press();
    const { html } = await look();
    const browser = await sandbox.foyer.signedIn(await sandbox.foyer.addUser());
    await answerCode(browser, codeOf(html), 'abort');
    expect((await look()).html).toContain('access_denied');
    expect((await look()).html).not.toContain('access_denied');
  });
});
