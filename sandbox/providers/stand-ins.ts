import { createPrivateKey, createPublicKey } from 'node:crypto';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import express, { type ErrorRequestHandler, type NextFunction } from 'express';
import { type CryptoKey, exportJWK, generateKeyPair, importPKCS8 } from 'jose';
import { byStandardKind, type StandardKind, standardKinds } from '../../config/standard-providers.ts';
import { onlyFromThisMachine } from '../../server/http/index.ts';
import { providersPageAddress } from '../views/places.ts';
import { createAccountChooser } from './account-chooser.ts';
import { amazon } from './amazon.ts';
import type { Answer } from './answers.ts';
import { codeFlow } from './code-flow.ts';
import { facebook } from './facebook.ts';
import { google } from './google.ts';
import { observe, type ProviderExchange } from './observe.ts';
import { type OidcIdentityProvider, oidc } from './oidc.ts';
import { providersPath } from './path.ts';
import { oidcPath, type Person, type StandInKind, samlPath } from './people.ts';
import { type SamlIdentityProvider, samlIdentityProvider } from './saml/identity-provider.ts';
import type { StandIn, StandInSettings, TokenKeys } from './settings.ts';
import { makeSigner, type Signer } from './signer.ts';

export interface ProviderStandIns {
  /** Handles the providers' paths; passes on all others, if it is used within an Express app. */
  listener: RequestListener & ((req: IncomingMessage, res: ServerResponse, next: NextFunction) => void);
  /** The answer to the next request (of this kind), instead of the account chooser; once. */
  answerNext(answer: Answer, kind?: StandInKind): void;
  oidc: OidcIdentityProvider;
  saml: SamlIdentityProvider;
  otherSigner(): Signer;
}

export interface ProviderStandInsOptions
  extends Pick<
    StandInSettings,
    'origin' | 'clients' | 'now' | 'samlSigner' | 'serviceProviderCertificate' | 'foyerUrl'
  > {
  /** The selectable people; by default the sandbox's own. */
  people?(kind: StandInKind): Person[];
  /** Sees every request with its answer. */
  seen?(exchange: ProviderExchange): void;
  log?(line: string): void;
}

const yearMs = 365 * 24 * 60 * 60_000;

async function createTokenKeys({ privateKey }: Signer): Promise<TokenKeys> {
  const publicJwk = await exportJWK(createPublicKey(createPrivateKey(privateKey)));
  let other: Promise<CryptoKey> | undefined;
  return {
    kid: 'sandbox',
    privateKey: await importPKCS8(privateKey, 'RS256'),
    publicJwk: { ...publicJwk, kid: 'sandbox', alg: 'RS256', use: 'sig' },
    otherKey() {
      other ??= generateKeyPair('RS256').then((pair) => pair.privateKey);
      return other;
    },
  };
}

/** Those whose answers differ from the plain ones of OAuth 2.0. */
const ownStandIns: Partial<Record<StandardKind, StandIn>> = { google, facebook, amazon };

const standIns = byStandardKind((kind) => ownStandIns[kind] ?? codeFlow(kind));

const paths = [...standardKinds.flatMap((kind) => standIns[kind].paths), providersPath, oidcPath, samlPath];

/** A fault of the stand-ins themselves, or an unreadable body. */
function answerError(log: (line: string) => void): ErrorRequestHandler {
  return (error, req, res, next) => {
    if (res.headersSent) return next(error);
    const { status = 500, message } = error as { status?: number; message?: string };
    if (status >= 500)
      log(`A stand-in for a provider has failed at ${req.method} ${req.path}: ${error.stack ?? error}`);
    res.status(status).json({ error: 'server_error', error_description: String(message) });
  };
}

/** The standard providers, an OpenID provider and a SAML identity provider, for the sandbox and for tests. */
export async function createProviderStandIns(options: ProviderStandInsOptions): Promise<ProviderStandIns> {
  const { people, seen, log = () => {}, ...more } = options;
  const app = express().disable('x-powered-by');
  app.use(paths, onlyFromThisMachine());
  if (seen) app.use(paths, observe(seen));
  const accountChooser = createAccountChooser(app, people);
  let other: Signer | undefined;
  const otherSigner = () => {
    other ??= makeSigner('Another provider', Date.now() - yearMs, Date.now() + yearMs);
    return other;
  };
  const settings: StandInSettings = {
    ...more,
    accountChooser,
    otherSigner,
    keys: await createTokenKeys(options.samlSigner),
  };
  for (const kind of standardKinds) standIns[kind].mount(app, settings);
  const company = oidc(app, settings);
  const saml = samlIdentityProvider(app, settings);
  // A page of Foyer's own lists them.
  app.get(providersPath, (_req, res) => res.redirect(303, (settings.foyerUrl() ?? '') + providersPageAddress));
  app.use(paths, answerError(log));
  return {
    listener: app as unknown as ProviderStandIns['listener'],
    answerNext: (answer, kind) => accountChooser.answerNext(answer, kind),
    oidc: company,
    saml,
    otherSigner,
  };
}
