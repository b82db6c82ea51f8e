import type { Browser } from '../support/browser.ts';
import { startFoyer } from '../support/foyer.ts';
import { startProviders } from '../support/providers.ts';
import { answerXml, arrive, beginSaml } from '../support/saml.ts';
import type { Backend } from '../support/stores.ts';

/** The format of a NameID that changes with every sign-in. */
export const transientFormat = 'urn:oasis:names:tc:SAML:2.0:nameid-format:transient';
export const emailFormat = 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress';

export type AnswerChange = Parameters<typeof answerXml>[2];

/** A Foyer with one SAML provider for each way of configuring one. */
export async function startSaml(backend: Backend) {
  const providers = await startProviders();
  const next = providers.write('next.crt', providers.otherSigner().certificate);
  const none = providers.write('none.crt', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----');
  const foyer = await startFoyer(
    backend,
    providers.environment((file) => {
      const saml = file.providers[1] as Record<string, unknown>;
      const more = (id: string, change: object) => ({
        ...saml,
        id,
        entityId: `${saml.entityId}-${id}`,
        domains: [],
        ...change,
      });
      return {
        ...file,
        providers: [
          ...file.providers,
          more('sealed', { encryptedAssertions: true, signRequests: true, logoutUrl: undefined }),
          more('rolling', { certificates: [none, 'acme-saml.crt', next] }),
          more('open', { idpInitiated: true, domains: ['open.example'] }),
          more('by-number', { subject: 'employeeNumber' }),
          more('plain', { logoutUrl: undefined, attributes: {}, domains: ['plain.example'] }),
        ],
      };
    }),
  );
  providers.tell(foyer.url);
  return {
    providers,
    foyer,
    issuerOf: (provider: string) => ({ issuer: `${providers.saml.entityId}-${provider}` }),
    /** Signs a user in; returns the attempt and the address of Foyer's redirect. */
    async come(change: AnswerChange = {}, provider = 'acme-saml') {
      const attempt = await beginSaml(foyer, { provider });
      return { attempt, to: await arrive(foyer, attempt, await answerXml(providers, attempt, change)) };
    },
    async close() {
      await foyer.close();
      await providers.close();
    },
  };
}

export type SamlSetup = Awaited<ReturnType<typeof startSaml>>;

let others = 0;
/** A user whom Foyer does not know yet, in a domain for which the provider vouches. */
export function newcomer(domain = 'corp.acme.example') {
  others += 1;
  return {
    nameId: `subject-${others}`,
    attributes: { mail: `new${others}@${domain}`, givenName: 'New', sn: 'Comer' },
  };
}

export const isSignedIn = async (browser: Browser) => (await browser.get('/')).status === 303;
