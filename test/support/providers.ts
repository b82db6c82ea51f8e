import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  byStandardKind,
  type StandardVariable,
  standardKinds,
  standardProviders,
  toRecord,
} from '../../config/standard-providers.ts';
import {
  type Answer,
  type Broken,
  buildSamlResponse,
  type CompaniesJson,
  companies,
  createProviderStandIns,
  listPeople,
  makeCompanyKeys,
  type OidcIdentityProvider,
  oidcPath,
  type Person,
  type ProviderExchange,
  type SamlIdentityProvider,
  type SamlResponseOptions,
  type Signer,
  type StandInKind,
  standInKinds,
  writeCompanyKeys,
} from '../../sandbox/providers/index.ts';
import { listenOnFreePort } from './foyer.ts';

/*
 * The standard providers, an OpenID provider (`acme-oidc`, "Acme", addresses of acme.example) and a SAML identity provider
 * (`acme-saml`, "Acme Corporate", addresses of corp.acme.example) on one free port of 127.0.0.1, in this process.
 *
 *   const providers = await startProviders({ now: () => Date.now() });
 *   const foyer = await startFoyer(backend, providers.environment());
 *   providers.tell(foyer.url);                             // only for what begins at the SAML identity provider
 *   providers.answerAs(providers.people.google.ada);       // the next request, of whichever kind, is answered at once:
 *   providers.answerAs('refuse', 'facebook');              // the GET of the authorization address redirects (SAML: answers
 *   providers.answerAs('token-hangs', 'oidc');             // a page whose form holds SAMLResponse and RelayState)
 *   providers.answerAs({ person: { ...ada, email: 'x@y.example', emailVerified: false, subject: 's' } }, 'google');
 *   providers.answerAs({ person: ada, saml: { audience: 'other' } }, 'saml');   // see SamlResponseOptions
 *
 * Without `answerAs` the account chooser is shown, and waits for the browser (POST /providers/choose).
 *
 * A SAML response of a test's own making (attacks):
 *
 *   const options = providers.saml.usual(ada, { id: requestId, acsUrl, app: entityIdOfFoyer });
 *   const xml = await providers.samlResponse({ ...options, sign: 'assertion', afterSigning: (xml) => … });   // and many more
 *   post { SAMLResponse: Buffer.from(xml).toString('base64'), RelayState }
 *
 * `readRedirect` and `parseSamlMessage` read what Foyer has led a browser to; they, `signElement`, `redirectAddress`,
 * `buildLogoutRequest` and others stand in sandbox/providers/index.ts.
 */

export type TestPeople = Record<StandInKind, { ada: Person; vera: Person; grace: Person; joan: Person }>;

export interface TestProviders {
  /** `http://127.0.0.1:<port>`: another site than Foyer's. */
  url: string;
  /**
   * The configuration of a Foyer that uses them: the variables of the standard providers, and PROVIDERS_FILE.
   * @param change of that file's content, before it is written; each call writes a separate file
   */
  environment(change?: (file: ProvidersJson) => ProvidersJson): Record<string, string>;
  /**
   * The people in the chooser, by given name: Ada, new and confirmed; Vera; Grace, whose address is not confirmed
   * (SAML: …@elsewhere.example); Joan, without an address. At the standard providers they are …@example.com, at
   * the companies in the company's domain.
   */
  people: TestPeople;
  /** The answer to the next request (of this kind), instead of the chooser; once. A broken answer is about Ada. */
  answerAs(who: Person | 'refuse' | Broken | Answer, kind?: StandInKind): void;
  /** Every received request with its answer, the oldest first. */
  exchanges: ProviderExchange[];
  /** Their secrets: client secrets, codes, verifiers, tokens, SAML messages. */
  secrets(): string[];
  /** Signs people out there (OpenID Connect Back-Channel Logout 1.0). */
  oidc: OidcIdentityProvider;
  saml: SamlIdentityProvider;
  /** The OpenID provider's issuer, and Foyer's credentials there. */
  issuer: string;
  client: { id: string; secret: string };
  /** Signs SAML responses and id tokens. */
  samlSigner: Signer;
  /** Another provider's key and certificate. */
  otherSigner(): Signer;
  /** Foyer's own key and certificate as a SAML service provider. */
  serviceProvider: Signer;
  /** The XML of a response: `samlResponse({ ...saml.usual(…), …what is different })`. */
  samlResponse(options: SamlResponseOptions): Promise<string>;
  /** The address of Foyer, for sign-in and single logout that start at the SAML identity provider. */
  tell(foyerUrl: string): void;
  /** Writes a file into a folder that `close` deletes: certificates of a test. @returns the file's path */
  write(name: string, content: string): string;
  close(): Promise<void>;
}

export type ProvidersJson = CompaniesJson;

const clients = {
  // In the form of the provider, but not those of the sandbox.
  ...byStandardKind((kind) => {
    const { id, secret } = standardProviders[kind].credentials;
    return { id: `${id.standIn}-of-tests`, secret: `${secret.standIn}-of-tests` };
  }),
  oidc: { id: 'foyer-at-acme', secret: 'secret-of-acme' },
};

/** The variables of a Foyer that uses the standard providers at this address. */
function standardVariables(url: string): Partial<Record<StandardVariable, string>> {
  const variables: Partial<Record<StandardVariable, string>> = {};
  for (const kind of standardKinds) {
    const { credentials, urlVariable } = standardProviders[kind];
    variables[credentials.id.variable] = clients[kind].id;
    variables[credentials.secret.variable] = clients[kind].secret;
    variables[urlVariable] = url;
  }
  return variables;
}

const secretFields = ['code', 'code_verifier', 'client_secret', 'access_token', 'SAMLResponse', 'appsecret_proof'];
const secretAnswers =
  /"(?:access_token|refresh_token|id_token)":"([^"]{8,200000})"|name="SAMLResponse" value="([^"]+)"/g;

function peopleByName(kind: StandInKind) {
  const [ada, vera, grace, joan] = listPeople(kind) as [Person, Person, Person, Person];
  return { ada, vera, grace, joan };
}

let made: { atMs: number; keys: ReturnType<typeof makeCompanyKeys> } | undefined;

/** Created once for all tests of this process, like signing keys: each costs a third of a second of the processor. */
function sharedCompanyKeys(nowMs: number) {
  // Their certificates start a day before.
  if (!made || Math.abs(made.atMs - nowMs) > 12 * 60 * 60_000) made = { atMs: nowMs, keys: makeCompanyKeys(nowMs) };
  return made.keys;
}

interface ProviderOptions {
  /** Its clock (codes, tokens, SAML's times); the certificates are valid for years around it. */
  now?: () => number;
  /** Answers a request in their place. @returns whether it has */
  answers?: RequestAnswer;
}

type RequestAnswer = (req: IncomingMessage, res: ServerResponse) => boolean;

export async function startProviders({
  now = Date.now,
  answers = () => false,
}: ProviderOptions = {}): Promise<TestProviders> {
  const { server, port } = await listenOnFreePort();
  const url = `http://127.0.0.1:${port}`;
  const folder = mkdtempSync(join(tmpdir(), 'foyer-providers-'));
  const write = (name: string, content: string) => {
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  };
  const keys = sharedCompanyKeys(now());
  const { acme: samlSigner, foyer: serviceProvider } = keys;
  writeCompanyKeys(folder, keys);
  const exchanges: ProviderExchange[] = [];
  let foyerUrl: string | undefined;
  const standIns = await createProviderStandIns({
    origin: url,
    clients,
    now,
    samlSigner,
    serviceProviderCertificate: serviceProvider.certificate,
    foyerUrl: () => foyerUrl,
    seen: (exchange) => exchanges.push(exchange),
  });
  server.on('request', (req, res) => answers(req, res) || standIns.listener(req, res));
  let files = 0;
  const people: TestPeople = toRecord(standInKinds, (kind) => kind, peopleByName);
  return {
    url,
    people,
    exchanges,
    samlSigner,
    serviceProvider,
    write,
    oidc: standIns.oidc,
    saml: standIns.saml,
    issuer: `${url}${oidcPath}`,
    client: clients.oidc,
    otherSigner: standIns.otherSigner,
    samlResponse: buildSamlResponse,
    environment(change = (same) => same) {
      files += 1;
      return {
        ...standardVariables(url),
        PROVIDERS_FILE: write(
          `providers-${files}.json`,
          JSON.stringify(change(companies(url, clients.oidc, { folder: '.' }))),
        ),
      };
    },
    answerAs(who, kind) {
      if (who === 'refuse') return standIns.answerNext({}, kind);
      if (typeof who === 'string')
        return standIns.answerNext({ person: people[kind ?? 'google'].ada, broken: who }, kind);
      standIns.answerNext('givenName' in who ? { person: who } : who, kind);
    },
    secrets() {
      const found = new Set(Object.values(clients).map(({ secret }) => secret));
      for (const { query, body, authorization, answer, location } of exchanges) {
        const redirected = location === undefined ? {} : Object.fromEntries(new URL(location, url).searchParams);
        for (const fields of [query, body, redirected] as Record<string, unknown>[]) {
          for (const name of secretFields) if (fields[name]) found.add(String(fields[name]));
        }
        if (authorization !== undefined) found.add(authorization.split(' ').at(-1) ?? '');
        for (const [, token, response] of answer.matchAll(secretAnswers)) found.add(token ?? response ?? '');
      }
      return [...found].filter((secret) => secret !== '');
    },
    tell(address) {
      foyerUrl = address;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
