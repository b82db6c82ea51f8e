import { sign } from 'node:crypto';
import { buildLogoutRequest, redirectAddress } from '../../sandbox/providers/index.ts';
import { isSignedIn, newcomer, type SamlSetup, startSaml } from '../federation/saml-steps.ts';
import { federationLog } from '../support/saml.ts';
import { anyBackend } from '../support/stores.ts';

/** Logout requests of a SAML provider by redirect (SAML 2.0 Bindings, section 3.4.4.1). */
describe.each([anyBackend])('attacks with logout requests of a SAML provider', (backend) => {
  let setup: SamlSetup;
  beforeAll(async () => {
    setup = await startSaml(backend);
  });
  afterAll(() => setup?.close());

  const slo = () => `${setup.foyer.url}/federation/acme-saml/logout`;
  const requestXml = (nameId: string) =>
    buildLogoutRequest({ issuer: setup.providers.saml.entityId, destination: slo(), nameId, atMs: Date.now() });
  const redirected = (xml: string) =>
    redirectAddress(slo(), { message: 'SAMLRequest', xml, relayState: 'r', signer: setup.providers.samlSigner });
  /** The address with a signature that is made as the function says, over the parameters as they are sent. */
  function signedBy(xml: string, algorithm: string, make: (text: Buffer) => Buffer): string {
    const message = new URL(redirected(xml)).searchParams.get('SAMLRequest') ?? '';
    const text = `SAMLRequest=${encodeURIComponent(message)}&SigAlg=${encodeURIComponent(algorithm)}`;
    return `${slo()}?${text}&Signature=${encodeURIComponent(make(Buffer.from(text)).toString('base64'))}`;
  }
  const privateKey = () => setup.providers.samlSigner.privateKey;

  it.each<[string, string, (xml: string) => string]>([
    [
      'with an empty signature',
      'the message is not signed by this provider',
      (xml) => redirected(xml).replace(/Signature=[^&]*/, 'Signature='),
    ],
    [
      'signed with SHA-1',
      'the message is signed in a way that is not accepted',
      (xml) => signedBy(xml, 'http://www.w3.org/2000/09/xmldsig#rsa-sha1', (text) => sign('sha1', text, privateKey())),
    ],
    [
      'signed with SHA-1 under the name of SHA-256',
      'the message is not signed by this provider',
      (xml) =>
        signedBy(xml, 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256', (text) => sign('sha1', text, privateKey())),
    ],
    [
      'without a destination',
      'the message names no destination',
      (xml) => redirected(xml.replace(/ Destination="[^"]*"/, '')),
    ],
  ])('Attack: a logout request %s is refused', async (_what, detail, address) => {
    const who = newcomer();
    const { attempt } = await setup.come(who);
    expect((await setup.foyer.browser().get(address(requestXml(String(who.nameId))))).status).toBe(400);
    expect(federationLog(setup.foyer).at(-1)?.detail).toBe(detail);
    expect(await isSignedIn(attempt.browser)).toBe(true);
    expect((await setup.foyer.browser().get(redirected(requestXml(String(who.nameId))))).status).toBe(303);
    expect(await isSignedIn(attempt.browser)).toBe(false);
  });
});
