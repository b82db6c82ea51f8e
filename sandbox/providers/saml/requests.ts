import { DOMParser } from '@xmldom/xmldom';
import type { Signer } from '../signer.ts';
import { newSamlId, signElement } from './response.ts';
import { attribute, instant, names, xmlText } from './xml.ts';

/** The parts of an AuthnRequest, LogoutRequest or LogoutResponse that the identity provider needs. */
export interface SamlMessage {
  /** AuthnRequest … */
  name: string;
  id: string;
  issuer: string;
  destination: string | undefined;
  /** The address of the response (AuthnRequest). */
  acsUrl: string | undefined;
  forceAuthn: boolean;
  /** The subject (LogoutRequest). */
  nameId: string | undefined;
  sessionIndex: string | undefined;
  /** The last part of the top status code (LogoutResponse). */
  status: string | undefined;
}

/** @returns undefined: it is no XML, or no message */
export function parseSamlMessage(xml: string): SamlMessage | undefined {
  if (/<!DOCTYPE/i.test(xml)) return undefined;
  let broken = false;
  const fail = () => {
    broken = true;
  };
  const parser = new DOMParser({ errorHandler: { warning: fail, error: fail, fatalError: fail } });
  const root = parser.parseFromString(xml, 'text/xml')?.documentElement;
  if (broken || !root || root.namespaceURI !== names.protocol) return undefined;
  const text = (namespace: string, name: string) =>
    root.getElementsByTagNameNS(namespace, name)[0]?.textContent?.trim() || undefined;
  const [id, issuer] = [root.getAttribute('ID'), text(names.assertion, 'Issuer')];
  if (!id || issuer === undefined) return undefined;
  return {
    name: root.localName ?? '',
    id,
    issuer,
    destination: root.getAttribute('Destination') || undefined,
    acsUrl: root.getAttribute('AssertionConsumerServiceURL') || undefined,
    forceAuthn: root.getAttribute('ForceAuthn') === 'true',
    nameId: text(names.assertion, 'NameID'),
    sessionIndex: text(names.protocol, 'SessionIndex'),
    status: root.getElementsByTagNameNS(names.protocol, 'StatusCode')[0]?.getAttribute('Value')?.split(':').at(-1),
  };
}

const head = (
  name: string,
  { id, atMs, destination, more = '' }: { id: string; atMs: number; destination: string; more?: string },
) =>
  `<samlp:${name} xmlns:samlp="${names.protocol}" xmlns:saml="${names.assertion}" ID="${id}" Version="2.0"` +
  ` IssueInstant="${instant(atMs)}"${attribute('Destination', destination)}${more}>`;

interface LogoutRequestOptions {
  id?: string;
  issuer: string;
  destination: string;
  nameId: string;
  nameIdFormat?: string;
  /** Absent: every session of the person. */
  sessionIndex?: string | undefined;
  atMs?: number;
  notOnOrAfterMs?: number;
  /** Signs the XML itself; the redirect binding signs the address instead. */
  signer?: Signer;
}

/** SAML 2.0 Core, section 3.7.1. */
export function buildLogoutRequest(options: LogoutRequestOptions): string {
  const { id = newSamlId(), issuer, destination, nameId, nameIdFormat, sessionIndex, signer } = options;
  const atMs = options.atMs ?? Date.now();
  const until = attribute('NotOnOrAfter', options.notOnOrAfterMs && instant(options.notOnOrAfterMs));
  const xml = [
    head('LogoutRequest', { id, atMs, destination, more: until }),
    `<saml:Issuer>${xmlText(issuer)}</saml:Issuer>`,
    `<saml:NameID${attribute('Format', nameIdFormat)}>${xmlText(nameId)}</saml:NameID>`,
    sessionIndex === undefined ? '' : `<samlp:SessionIndex>${xmlText(sessionIndex)}</samlp:SessionIndex>`,
    '</samlp:LogoutRequest>',
  ].join('');
  return signer ? signElement(xml, id, signer) : xml;
}

interface LogoutResponseOptions {
  id?: string;
  issuer: string;
  destination: string;
  inResponseTo: string | undefined;
  status?: string;
  atMs?: number;
}

/** SAML 2.0 Core, section 3.7.2. */
export function buildLogoutResponse(options: LogoutResponseOptions): string {
  const { id = newSamlId(), issuer, destination, inResponseTo, status = 'Success', atMs = Date.now() } = options;
  return [
    head('LogoutResponse', { id, atMs, destination, more: attribute('InResponseTo', inResponseTo) }),
    `<saml:Issuer>${xmlText(issuer)}</saml:Issuer>`,
    `<samlp:Status><samlp:StatusCode Value="urn:oasis:names:tc:SAML:2.0:status:${xmlText(status)}"/></samlp:Status>`,
    '</samlp:LogoutResponse>',
  ].join('');
}
