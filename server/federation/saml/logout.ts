import { stringify } from 'node:querystring';
import { SAML } from '@node-saml/passport-saml';
import type { Request } from 'express';
import { readFormField } from '../../http/index.ts';
import { readNameId } from './name-id.ts';
import { maxMessageBytes, readRedirect } from './redirect-binding.ts';
import { refuseChangedElements } from './reference-digest.ts';
import { checkAddress, checkPeriod, decodeMessage } from './response-checks.ts';
import { newMessageId, type SamlService, samlOptions } from './service.ts';
import { checkSignatureShapes } from './signatures.ts';
import { refuseForeignSignatures } from './signed-info.ts';
import type { LogoutMessage, SamlLogout } from './types.ts';
import { childrenNamed, elementText, is, parseXml, readTime, requireOne, type XmlElement, xmlError } from './xml.ts';

/** How long a message without an expiry is accepted. */
const maxAgeMs = 5 * 60_000;
const maxRelayBytes = 1_000;

/** Its version would decrypt an EncryptedID, with fewer algorithms than Foyer; the content is read afterwards. */
class SignatureVerifier extends SAML {
  protected override async processValidlySignedPostRequestAsync(doc: Record<string, unknown>) {
    this.verifyLogoutRequest(doc);
    return { profile: libraryProfile(''), loggedOut: true };
  }
}

/** Logouts are always signed, whatever is configured for sign-ins (SAML 2.0 Profiles, section 4.4.3.1). */
export function singleLogout(service: SamlService): SamlLogout {
  const options = (id?: string) => ({
    ...samlOptions(service, id === undefined ? undefined : { id, begunAtMs: service.now() }, true),
    wantAuthnResponseSigned: true,
  });
  const library = (id: string) => new SAML(options(id));

  async function signedMessage(req: Request) {
    if (req.method !== 'POST') {
      const [, search = ''] = req.originalUrl.split('?', 2);
      return readRedirect(search, service.config.certificates);
    }
    const [request, response] = [readFormField(req, 'SAMLRequest'), readFormField(req, 'SAMLResponse')];
    if ((request === '') === (response === '')) throw xmlError('there is no message');
    const kind = request === '' ? 'SAMLResponse' : 'SAMLRequest';
    const xml = decodeMessage(request || response);
    const root = parseXml(xml);
    checkSignatureShapes(root, (element) => element === root);
    if (childrenNamed(root, 'signature', 'Signature').length !== 1) throw xmlError('the message is not signed');
    refuseForeignSignatures(root, service.config.certificates);
    refuseChangedElements(root);
    const body = { [kind]: Buffer.from(xml, 'utf8').toString('base64') };
    const { validatePostRequestAsync, validatePostResponseAsync } = SAML.prototype;
    const check = kind === 'SAMLRequest' ? validatePostRequestAsync : validatePostResponseAsync;
    await check.call(new SignatureVerifier(options()), body).catch(() => {
      throw xmlError('the message is not signed by this provider');
    });
    return { kind, xml, relayState: readFormField(req, 'RelayState') } as const;
  }

  return {
    async ask(session, relayState) {
      const requestId = newMessageId();
      const profile = { ...session, nameID: session.nameId, nameIDFormat: session.nameIdFormat, issuer: '' };
      return { url: asSigned(await library(requestId).getLogoutUrlAsync(profile, relayState, {})), requestId };
    },
    async read(req): Promise<LogoutMessage> {
      const { kind, xml, relayState = '' } = await signedMessage(req);
      if (xml.length > maxMessageBytes || relayState.length > maxRelayBytes) throw xmlError('the message is too long');
      const root = parseXml(xml);
      const name = kind === 'SAMLRequest' ? 'LogoutRequest' : 'LogoutResponse';
      if (!is(root, 'protocol', name)) throw xmlError(`the message is no ${name}`);
      const untilMs = checkMessage(root, service);
      if (kind === 'SAMLResponse') {
        const code = requireOne(requireOne(root, 'protocol', 'Status'), 'protocol', 'StatusCode');
        const success = code.getAttribute('Value') === 'urn:oasis:names:tc:SAML:2.0:status:Success';
        return { kind: 'response', inResponseTo: root.getAttribute('InResponseTo') ?? '', success };
      }
      const id = root.getAttribute('ID') ?? '';
      if (id === '') throw xmlError('the message has no id');
      return {
        kind: 'request',
        id,
        nameId: readNameId(root, { key: service.key, audience: service.entityId }).nameId,
        sessionIndexes: childrenNamed(root, 'protocol', 'SessionIndex').map(elementText),
        untilMs,
        answer: async () =>
          asSigned(await library(newMessageId()).getLogoutResponseUrlAsync(libraryProfile(id), relayState, {}, true)),
      };
    },
  };
}

const libraryProfile = (id: string) => ({ ID: id, issuer: '', nameID: '', nameIDFormat: '' });

/** @returns the time until which it could be replayed */
function checkMessage(root: XmlElement, { config, logout, now, toleranceMs }: SamlService): number {
  if (root.getAttribute('Version') !== '2.0') throw xmlError('the message is not of SAML 2.0');
  if (elementText(requireOne(root, 'assertion', 'Issuer')) !== config.entityId)
    throw xmlError('the issuer of the message is not this provider');
  if (!root.hasAttribute('Destination')) throw xmlError('the message names no destination');
  checkAddress(root, 'Destination', logout ?? '');
  const issued = readTime(root, 'IssueInstant');
  if (issued === undefined) throw xmlError('the message does not say when it was issued');
  if (issued > now() + toleranceMs) throw xmlError('the message was issued in the future');
  if (issued < now() - maxAgeMs - toleranceMs) throw xmlError('the message has expired');
  const until = checkPeriod(root, { nowMs: now(), toleranceMs }, 'the message');
  return Math.min(until ?? Number.POSITIVE_INFINITY, issued + maxAgeMs) + toleranceMs;
}

/** The parameters encoded as they were signed: `URL`, which the library used, encodes some characters differently. */
function asSigned(address: string): string {
  const { origin, pathname, searchParams } = new URL(address);
  return `${origin}${pathname}?${stringify(Object.fromEntries(searchParams))}`;
}
