import type { Express, Request, Response } from 'express';
import { createElement } from 'react';
import { IdentityProviderPage } from '../../views/providers/identity-provider-page.tsx';
import type { Answer } from '../answers.ts';
import { randomText } from '../grants.ts';
import { providerNames, sendFault, sendPage, sendPost } from '../pages.ts';
import { type Person, samlPath, toFullName, toSubject } from '../people.ts';
import type { StandInSettings } from '../settings.ts';
import { pemBody } from '../signer.ts';
import { brokenResponse } from './broken.ts';
import { readRedirect, redirectAddress } from './redirect.ts';
import { buildLogoutRequest, buildLogoutResponse, parseSamlMessage, type SamlMessage } from './requests.ts';
import { buildSamlResponse, newSamlId, type SamlResponseOptions } from './response.ts';
import { names } from './xml.ts';

const persistent = 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent';
const redirectBinding = 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect';
const validMs = 5 * 60_000;
const maxSessions = 200;

/** A person who is signed in here, and has gone to an app from here. */
export interface IdentityProviderSession {
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

/** SAML 2.0 Metadata, section 2.4.3. */
function metadata(entityId: string, certificate: string): string {
  const service = (name: string, path: string) =>
    `<md:${name} Binding="${redirectBinding}" Location="${entityId.replace(/\/metadata$/, path)}"/>`;
  return [
    `<?xml version="1.0"?><md:EntityDescriptor xmlns:md="${names.metadata}" entityID="${entityId}">`,
    `<md:IDPSSODescriptor WantAuthnRequestsSigned="false" protocolSupportEnumeration="${names.protocol}">`,
    `<md:KeyDescriptor use="signing"><ds:KeyInfo xmlns:ds="${names.ds}"><ds:X509Data><ds:X509Certificate>`,
    pemBody(certificate),
    '</ds:X509Certificate></ds:X509Data></ds:KeyInfo></md:KeyDescriptor>',
    service('SingleLogoutService', '/slo'),
    `<md:NameIDFormat>${persistent}</md:NameIDFormat>`,
    service('SingleSignOnService', '/sso'),
    '</md:IDPSSODescriptor></md:EntityDescriptor>',
  ].join('');
}

/** Only apps on this machine are known here. */
const isOfThisMachine = (address: string | undefined): address is string =>
  ['localhost', '127.0.0.1'].includes(URL.parse(address ?? '')?.hostname ?? '');
/** Foyer has both at the same place. */
const toLogoutUrl = (acsUrl: string) => acsUrl.replace(/\/acs$/, '/logout');

/**
 * A SAML identity provider: Web Browser SSO with requests by redirect and answers by POST, sign-in that begins here, and
 * single logout both ways (SAML 2.0 Profiles, sections 4.1 and 4.4).
 */
export function samlIdentityProvider(app: Express, settings: StandInSettings): SamlIdentityProvider {
  const { origin, counter, now, samlSigner: signer, otherSigner, serviceProviderCertificate, foyerUrl } = settings;
  const entityId = `${origin}${samlPath}/metadata`;
  const open = new Map<string, IdentityProviderSession>();

  const usual: SamlIdentityProvider['usual'] = (person, { id, acsUrl, app: audience }) => ({
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
  });

  function remember(session: IdentityProviderSession): void {
    if (open.size >= maxSessions) open.delete(open.keys().next().value ?? '');
    open.set(session.index, session);
  }

  async function answer(
    res: Response,
    { person, broken, saml }: Answer,
    request: { id: string | null; acsUrl: string; app: string; relayState: string | undefined },
  ): Promise<void> {
    const { acsUrl } = request;
    const relayState = broken === 'no-relay-state' ? undefined : request.relayState;
    const refused: SamlResponseOptions = {
      status: 'Responder',
      subStatus: 'RequestDenied',
      statusMessage: 'The person pressed Cancel.',
    };
    const right = usual(person ?? { givenName: '', familyName: '', emailVerified: false }, request);
    const wrong = person ? brokenResponse(broken, now(), otherSigner) : refused;
    const options = { ...right, ...wrong, ...saml };
    const { nameId, sessionIndex } = options;
    if (person && nameId && sessionIndex && (options.status ?? 'Success') === 'Success') {
      remember({ index: sessionIndex, nameId, person, app: request.app, logoutUrl: toLogoutUrl(acsUrl) });
    }
    const xml = await buildSamlResponse(options);
    sendPost(res, acsUrl, {
      SAMLResponse: Buffer.from(xml).toString('base64'),
      ...(relayState !== undefined && { RelayState: relayState }),
    });
  }

  /** A message by redirect with the required signature. Answers itself if it is invalid. */
  function read(req: Request, res: Response, { signed }: { signed: boolean }) {
    const { search } = new URL(req.originalUrl, origin);
    const carried = readRedirect(search);
    const message = carried && parseSamlMessage(carried.xml);
    if (!carried || !message) {
      sendFault(res, 400, 'This is no SAML message', 'The app has sent something that cannot be read.');
      return undefined;
    }
    if ((signed || carried.signed) && !carried.isSignedBy(serviceProviderCertificate)) {
      sendFault(
        res,
        400,
        'The signature is wrong',
        'The app has not signed this request, or with a key that is not known here.',
      );
      return undefined;
    }
    return { message, relayState: carried.relayState };
  }

  app.get(`${samlPath}/metadata`, (_req, res) => {
    res.type('application/samlmetadata+xml').send(metadata(entityId, signer.certificate));
  });

  app.get(`${samlPath}/sso`, async (req, res) => {
    const received = read(req, res, { signed: false });
    if (!received) return;
    const { id, issuer, acsUrl } = received.message;
    if (
      received.message.name !== 'AuthnRequest' ||
      !isOfThisMachine(acsUrl) ||
      !/\/federation\/[\w-]+\/acs$/.test(acsUrl)
    )
      return sendFault(res, 400, 'Unknown app', 'The address to return to is not registered here.');
    const request = { id, acsUrl, app: issuer, relayState: received.relayState };
    await counter.ask(req, res, {
      kind: 'saml',
      app: new URL(acsUrl).host,
      answer: (to, chosen) => answer(to, chosen, request),
    });
  });

  /** SAML 2.0 Profiles, section 4.1.5: an unsolicited response. */
  app.post(`${samlPath}/begin`, async (req, res) => {
    const foyer = foyerUrl();
    if (foyer === undefined) return sendFault(res, 404, 'No app', 'No app is registered here.');
    const at = `${foyer}/federation/acme-saml`;
    const request = { id: null, acsUrl: `${at}/acs`, app: `${at}/metadata`, relayState: undefined };
    await counter.ask(req, res, {
      kind: 'saml',
      app: new URL(foyer).host,
      answer: (to, chosen) => answer(to, chosen, request),
    });
  });

  function endedBy({ nameId, sessionIndex }: SamlMessage): void {
    for (const session of open.values()) {
      const same = session.nameId === nameId && (sessionIndex === undefined || session.index === sessionIndex);
      if (same) open.delete(session.index);
    }
  }

  const sendSignedOut = (res: Response, status: string | undefined) =>
    sendPage(res, 200, {
      title: 'Signed out',
      kind: 'saml',
      body: createElement(IdentityProviderPage, {
        provider: providerNames.saml,
        path: samlPath,
        sessions: [],
        canBegin: false,
        notice:
          status === 'Success'
            ? 'You are signed out, here and at the app.'
            : 'You are signed out here; the app has not said that it did the same.',
      }),
    });

  app.get(`${samlPath}/slo`, (req, res) => {
    const received = read(req, res, { signed: true });
    if (!received) return;
    const { message, relayState } = received;
    if (message.name === 'LogoutResponse') return sendSignedOut(res, message.status);
    const session = [...open.values()].find(({ app: entity }) => entity === message.issuer);
    const destination = session?.logoutUrl ?? message.issuer.replace(/\/metadata$/, '/logout');
    if (message.name !== 'LogoutRequest' || !isOfThisMachine(destination))
      return sendFault(res, 400, 'Unknown app', 'No one has come from there.');
    endedBy(message);
    const xml = buildLogoutResponse({ issuer: entityId, destination, inResponseTo: message.id, atMs: now() });
    res.redirect(302, redirectAddress(destination, { message: 'SAMLResponse', xml, relayState, signer }));
  });

  const logoutAddress = ({ index, nameId, logoutUrl }: IdentityProviderSession) => {
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
  };

  app.get(samlPath, (_req, res) => {
    const sessions = [...open.values()].map(({ index, person }) => ({
      index,
      name: toFullName(person),
      email: person.email,
    }));
    sendPage(res, 200, {
      title: providerNames.saml,
      kind: 'saml',
      body: createElement(IdentityProviderPage, {
        provider: providerNames.saml,
        path: samlPath,
        sessions,
        canBegin: foyerUrl() !== undefined,
      }),
    });
  });
  app.post(`${samlPath}/sign-out/:index`, (req, res) => {
    const session = open.get(req.params.index);
    if (!session) return res.redirect(303, samlPath);
    open.delete(session.index);
    res.redirect(303, logoutAddress(session));
  });

  return { entityId, sessions: () => [...open.values()], usual, logoutAddress };
}
