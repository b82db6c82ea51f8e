import { buildLogoutRequest, redirectAddress } from '../../sandbox/providers/index.ts';
import { noticeOf } from '../support/browser.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { startProviders, type TestProviders } from '../support/providers.ts';
import { answerXml, arrive, beginSaml } from '../support/saml.ts';
import { anyBackend } from '../support/stores.ts';
import { isSignedIn, newcomer } from './saml-steps.ts';

/** Shorter than the tolerance, so that an answer of a slow clock has expired here. */
const validMs = 5_000;

describe.each([anyBackend])('the clock of a SAML provider', (backend) => {
  let providers: TestProviders;
  let foyer: TestFoyer;
  beforeAll(async () => {
    providers = await startProviders();
    foyer = await startFoyer(
      backend,
      providers.environment((file) => {
        const [oidc, saml] = file.providers as [Record<string, unknown>, Record<string, unknown>];
        const more = (id: string, clockTolerance: number) => ({
          ...saml,
          id,
          entityId: id,
          domains: [],
          clockTolerance,
        });
        return { ...file, providers: [oidc, saml, more('exact', 0), more('slack', 300)] };
      }),
    );
  });
  afterAll(async () => {
    await foyer?.close();
    await providers?.close();
  });

  const times = (seconds: number) => {
    const issuedAtMs = Date.now() + seconds * 1_000;
    return { issuedAtMs, notBeforeMs: issuedAtMs, notOnOrAfterMs: issuedAtMs + validMs };
  };
  const who = (provider: string) => (provider === 'acme-saml' ? newcomer() : { ...newcomer(), issuer: provider });
  async function signIn(seconds: number, provider = 'acme-saml') {
    const attempt = await beginSaml(foyer, { provider });
    return arrive(foyer, attempt, await answerXml(providers, attempt, { ...who(provider), ...times(seconds) }));
  }
  const refused = expect.stringContaining('federation:invalid');

  it.each([50, -50])('A sign-in is accepted from a provider whose clock differs by %i seconds', async (seconds) => {
    expect(await signIn(seconds)).not.toEqual(refused);
  });

  it.each([70, -70])('A sign-in is refused from a provider whose clock differs by %i seconds', async (seconds) => {
    expect(await signIn(seconds)).toEqual(refused);
  });

  it('The tolerance of a provider is the one in its entry', async () => {
    for (const seconds of [-290, 290]) expect(await signIn(seconds, 'slack')).not.toEqual(refused);
    for (const seconds of [-310, 310]) expect(await signIn(seconds, 'slack')).toEqual(refused);
    for (const seconds of [-10, 10]) expect(await signIn(seconds, 'exact')).toEqual(refused);
  });

  it('A sign-in that was asked for again counts as fresh at 50 seconds of difference, and not at 70 of a slow clock', async () => {
    for (const [seconds, notice] of [
      [50, null],
      [-50, null],
      [-70, 'federation:not-fresh'],
    ] as const) {
      const who = newcomer();
      const first = await beginSaml(foyer);
      await arrive(foyer, first, await answerXml(providers, first, who));
      const again = await beginSaml(foyer, { browser: first.browser, search: '?forceAuth=1' });
      const answer = { ...who, ...times(seconds), notOnOrAfterMs: Date.now() + 60_000 };
      const to = await arrive(foyer, again, await answerXml(providers, again, answer));
      expect([seconds, noticeOf(to)]).toEqual([seconds, notice]);
    }
  });

  it('A logout request is accepted at 50 seconds of difference, and refused at 70', async () => {
    const destination = `${foyer.url}/federation/acme-saml/logout`;
    for (const [seconds, accepted] of [
      [50, true],
      [-50, true],
      [70, false],
      [-70, false],
    ] as const) {
      const member = newcomer();
      const { browser } = await beginSaml(foyer).then(async (attempt) => {
        await arrive(foyer, attempt, await answerXml(providers, attempt, member));
        return attempt;
      });
      const { issuedAtMs: atMs, notOnOrAfterMs } = times(seconds);
      const issuer = providers.saml.entityId;
      const xml = buildLogoutRequest({ issuer, destination, nameId: member.nameId, atMs, notOnOrAfterMs });
      const message = { message: 'SAMLRequest', xml, signer: providers.samlSigner } as const;
      const { status } = await foyer.browser().get(redirectAddress(destination, message));
      expect([seconds, status, await isSignedIn(browser)]).toEqual([seconds, accepted ? 303 : 400, !accepted]);
    }
  });
});
