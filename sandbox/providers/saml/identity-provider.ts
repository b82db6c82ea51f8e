import { type Express, type RequestHandler, type Response, urlencoded } from 'express';
import { createElement } from 'react';
import type { HttpExchange } from '../../../server/http/index.ts';
import { IdentityProviderPage } from '../../views/providers/identity-provider-page.tsx';
import type { Answer } from '../answers.ts';
import { randomText } from '../grants.ts';
import { sendFault, sendPage, sendPost } from '../pages.ts';
import { type Person, samlPath, toFullName, toSubject } from '../people.ts';
import type { StandInSettings } from '../settings.ts';
import { standInTraits } from '../traits.ts';
import { brokenResponse } from './broken.ts';
import { metadata, persistent } from './metadata.ts';
import { readPosted, readRedirect, redirectAddress } from './redirect.ts';
import { buildLogoutRequest, buildLogoutResponse, parseSamlMessage, type SamlMessage } from './requests.ts';
import { buildSamlResponse, newSamlId, type SamlResponseOptions } from './response.ts';

const validMs = 5 * 60_000;
const maxSessions = 200;

/** A person who is signed in here, and has gone to an app from here. */
interface IdentityProviderSession {
  index: string;
  nameId: string;
  person: Person;
  /** The app's entity id, and its single logout address. */
  app: string;
  logoutUrl: string;
}

export interface SamlIdentityProvider {
  entityId: string;
  /** The signed-in people, the newest last. */
  sessions(): IdentityProviderSession[];
  /** The content of a correct response to this request; for tests that change it, or bring their own. */
  usual(
    person: Person,
    request: { id: string | null; acsUrl: string; app: string },
  ): SamlResponseOptions & { signer: NonNullable<SamlResponseOptions['signer']> };
  /** The next address of a person's browser after a logout here (single logout). */
  logoutAddress(session: IdentityProviderSession): string;
}

/** Only apps on this machine are known here. */
const isOfThisMachine = (address: string | undefined): address is string =>
  ['localhost', '127.0.0.1'].includes(URL.parse(address ?? '')?.hostname ?? '');
/** Foyer has both at the same place. */
const toLogoutUrl = (acsUrl: string) => acsUrl.replace(/\/acs$/, '/logout');

interface SamlRequest {
  /** null for an unsolicited response. */
  id: string | null;
  acsUrl: string;
  app: string;
  relayState?: string | undefined;
}

interface IdentityProvider {
  settings: StandInSettings;
  entityId: string;
  /** By their index, the newest last. */
  sessions: Map<string, IdentityProviderSession>;
}

function usualResponse(
  { settings, entityId }: IdentityProvider,
  person: Person,
  { id, acsUrl, app: audience }: SamlRequest,
): ReturnType<SamlIdentityProvider['usual']> {
  const { now, samlSigner: signer } = settings;
  return {
    issuer: entityId,
    destination: acsUrl,
    recipient: acsUrl,
    audience,
    inResponseTo: id,
    signer,
    nameId: toSubject('saml', person),
    nameIdFormat: persistent,
    sessionIndex: newSamlId(),
    attributes: { mail: person.email, givenName: person.givenName, sn: person.familyName },
    issuedAtMs: now(),
    notBeforeMs: now() - 60_000,
    notOnOrAfterMs: now() + validMs,
  };
}

const refusal: SamlResponseOptions = {
  status: 'Responder',
  subStatus: 'RequestDenied',
  statusMessage: 'The person pressed Cancel.',
};

/** Starts a session, and lets the browser post the response to the app. */
async function sendResponse(
  provider: IdentityProvider,
  res: Response,
  { request, answer }: { request: SamlRequest; answer: Answer },
): Promise<void> {
  const { settings, sessions } = provider;
  const { acsUrl } = request;
  const { person, broken, saml } = answer;
  const relayState = broken === 'no-relay-state' ? undefined : request.relayState;
  const usual = usualResponse(provider, person ?? { givenName: '', familyName: '', emailVerified: false }, request);
  const context = { nowMs: settings.now(), otherSigner: settings.otherSigner };
  const options = { ...usual, ...(person ? brokenResponse(broken, context) : refusal), ...saml };
  const { nameId, sessionIndex } = options;
  if (person && nameId && sessionIndex && (options.status ?? 'Success') === 'Success') {
    if (sessions.size >= maxSessions) sessions.delete(sessions.keys().next().value ?? '');
    sessions.set(sessionIndex, {
      index: sessionIndex,
      nameId,
      person,
      app: request.app,
      logoutUrl: toLogoutUrl(acsUrl),
    });
  }
  const xml = await buildSamlResponse(options);
  sendPost(res, acsUrl, {
    SAMLResponse: Buffer.from(xml).toString('base64'),
    ...(relayState !== undefined && { RelayState: relayState }),
  });
}

/** Reads a message, by redirect or a form, with the required signature. Answers itself if it is invalid. */
function readMessage({ req, res }: HttpExchange, settings: StandInSettings, { signed }: { signed: boolean }) {
  const { search } = new URL(req.originalUrl, settings.origin);
  const received = req.method === 'POST' ? readPosted(req.body) : readRedirect(search);
  const message = received && parseSamlMessage(received.xml);
  if (!received || !message) {
    sendFault(res, { title: 'This is no SAML message', text: 'The app has sent something that cannot be read.' });
    return undefined;
  }
  if ((signed || received.signed) && !received.isSignedBy(settings.serviceProviderCertificate)) {
    sendFault(res, {
      title: 'The signature is wrong',
      text: 'The app has not signed this request, or with a key that is not known here.',
    });
    return undefined;
  }
  return { message, relayState: received.relayState };
}

function chooseAccount(provider: IdentityProvider, { req, res }: HttpExchange, request: SamlRequest): Promise<void> {
  return provider.settings.accountChooser.ask(req, res, {
    kind: 'saml',
    app: new URL(request.acsUrl).host,
    answer: (to, answer) => sendResponse(provider, to, { request, answer }),
  });
}

function singleSignOn(provider: IdentityProvider): RequestHandler {
  return async (req, res) => {
    const received = readMessage({ req, res }, provider.settings, { signed: false });
    if (!received) return;
    const { name, id, issuer, acsUrl } = received.message;
    if (name !== 'AuthnRequest' || !isOfThisMachine(acsUrl) || !/\/federation\/[\w-]+\/acs$/.test(acsUrl))
      return sendFault(res, { title: 'Unknown app', text: 'The address to return to is not registered here.' });
    await chooseAccount(provider, { req, res }, { id, acsUrl, app: issuer, relayState: received.relayState });
  };
}

/** SAML 2.0 Profiles, section 4.1.5: an unsolicited response. */
function startAtProvider(provider: IdentityProvider): RequestHandler {
  return async (req, res) => {
    const foyer = provider.settings.foyerUrl();
    if (foyer === undefined) {
      return sendFault(res, { status: 404, title: 'No app', text: 'No app is registered here.' });
    }
    const address = `${foyer}/federation/acme-saml`;
    await chooseAccount(provider, { req, res }, { id: null, acsUrl: `${address}/acs`, app: `${address}/metadata` });
  };
}

function endSessions({ sessions }: IdentityProvider, { nameId, sessionIndex }: SamlMessage): void {
  for (const session of sessions.values()) {
    const same = session.nameId === nameId && (sessionIndex === undefined || session.index === sessionIndex);
    if (same) sessions.delete(session.index);
  }
}

const sendSignedOut = (res: Response, status: string | undefined) =>
  sendPage(res, 200, {
    title: 'Signed out',
    kind: 'saml',
    body: createElement(IdentityProviderPage, {
      provider: standInTraits.saml.name,
      path: samlPath,
      sessions: [],
      canBegin: false,
      notice:
        status === 'Success'
          ? 'You are signed out, here and at the app.'
          : 'You are signed out here; the app has not said that it did the same.',
    }),
  });

function singleLogout(provider: IdentityProvider): RequestHandler {
  const { settings, entityId, sessions } = provider;
  return (req, res) => {
    const received = readMessage({ req, res }, settings, { signed: true });
    if (!received) return;
    const { message, relayState } = received;
    if (message.name === 'LogoutResponse') return sendSignedOut(res, message.status);
    const session = [...sessions.values()].find(({ app }) => app === message.issuer);
    const destination = session?.logoutUrl ?? message.issuer.replace(/\/metadata$/, '/logout');
    if (message.name !== 'LogoutRequest' || !isOfThisMachine(destination))
      return sendFault(res, { title: 'Unknown app', text: 'No one has come from there.' });
    endSessions(provider, message);
    const xml = buildLogoutResponse({
      issuer: entityId,
      destination,
      inResponseTo: message.id,
      atMs: settings.now(),
    });
    const signer = settings.samlSigner;
    res.redirect(302, redirectAddress(destination, { message: 'SAMLResponse', xml, relayState, signer }));
  };
}

function logoutAddress({ settings, entityId }: IdentityProvider, session: IdentityProviderSession): string {
  const { now, samlSigner: signer } = settings;
  const { index, nameId, logoutUrl } = session;
  const xml = buildLogoutRequest({
    issuer: entityId,
    destination: logoutUrl,
    nameId,
    nameIdFormat: persistent,
    sessionIndex: index,
    atMs: now(),
    notOnOrAfterMs: now() + validMs,
  });
  return redirectAddress(logoutUrl, { message: 'SAMLRequest', xml, relayState: randomText(16), signer });
}

function listSessions({ settings, sessions }: IdentityProvider): RequestHandler {
  return (_req, res) => {
    sendPage(res, 200, {
      title: standInTraits.saml.name,
      kind: 'saml',
      body: createElement(IdentityProviderPage, {
        provider: standInTraits.saml.name,
        path: samlPath,
        sessions: [...sessions.values()].map(({ index, person }) => ({
          index,
          name: toFullName(person),
          email: person.email,
        })),
        canBegin: settings.foyerUrl() !== undefined,
      }),
    });
  };
}

/**
 * A SAML identity provider: Web Browser SSO with requests by redirect and answers by POST, sign-in that begins here, and
 * single logout both ways (SAML 2.0 Profiles, sections 4.1 and 4.4).
 */
export function samlIdentityProvider(app: Express, settings: StandInSettings): SamlIdentityProvider {
  const entityId = `${settings.origin}${samlPath}/metadata`;
  const sessions = new Map<string, IdentityProviderSession>();
  const provider: IdentityProvider = { settings, entityId, sessions };
  app.get(`${samlPath}/metadata`, (_req, res) => {
    res.type('application/samlmetadata+xml').send(metadata(entityId, settings.samlSigner.certificate));
  });
  app.get(`${samlPath}/sso`, singleSignOn(provider));
  app.post(`${samlPath}/sso`, urlencoded({ extended: false }), singleSignOn(provider));
  app.post(`${samlPath}/begin`, startAtProvider(provider));
  app.get(`${samlPath}/slo`, singleLogout(provider));
  app.get(samlPath, listSessions(provider));
  app.post(`${samlPath}/sign-out/:index`, (req, res) => {
    const session = sessions.get(req.params.index);
    if (!session) return res.redirect(303, samlPath);
    sessions.delete(session.index);
    res.redirect(303, logoutAddress(provider, session));
  });
  return {
    entityId,
    sessions: () => [...sessions.values()],
    usual: (person, request) => usualResponse(provider, person, request),
    logoutAddress: (session) => logoutAddress(provider, session),
  };
}
