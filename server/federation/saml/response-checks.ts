import { FederationError } from '../identity.ts';
import { decoyAssertion } from './decoy-assertion.ts';
import { decryptedText, type ServiceKey, undecipherable } from './decryption.ts';
import { refuseChangedElements } from './reference-digest.ts';
import { checkSignatureShapes } from './signatures.ts';
import { refuseForeignSignatures } from './signed-info.ts';
import {
  childrenNamed,
  elementText,
  everyElement,
  is,
  parseXml,
  readTime,
  requireOne,
  type XmlElement,
  xmlError,
} from './xml.ts';

/** The expectations for a response. */
export interface ExpectedResponse {
  /** Foyer's entity id. */
  audience: string;
  /** The address to which it was sent. */
  acs: string;
  /** The identity provider's entity id. */
  issuer: string;
  /** Undefined: it is unsolicited. */
  requestId: string | undefined;
  /** The authentication must be newer than this; milliseconds since the epoch. */
  freshSinceMs: number | undefined;
  /** The identity provider's, in PEM. */
  certificates: readonly string[];
  /** Foyer's own; it decrypts. */
  key: ServiceKey | undefined;
  /** Whether the assertion must be encrypted. Otherwise it must not be. */
  encryptedAssertions: boolean;
  nowMs: number;
  /** By how much the provider's clock may differ. */
  toleranceMs: number;
}

const base64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** @throws {FederationError} invalid */
export function decodeMessage(encoded: string): string {
  const text = encoded.replace(/[\r\n\t ]/g, '');
  if (text === '') throw xmlError('there is no message');
  if (!base64.test(text)) throw xmlError('the message is not in base64');
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(text, 'base64'));
  } catch {
    throw xmlError('the message is no text in UTF-8');
  }
}

/**
 * Checks everything around the assertion, and the places of signatures. None of it is reliably signed, so this can only
 * refuse (SAML 2.0 Core, section 3.3.3; Profiles, section 4.1.4.3).
 * @returns the assertion, decrypted; with one signature of the provider, and unchanged as far as
 * `refuseChangedElements` sees
 * @throws {FederationError}
 */
export function checkResponse(xml: string, expected: ExpectedResponse): XmlElement {
  const response = parseXml(xml);
  if (!is(response, 'protocol', 'Response')) throw xmlError('the message is no response');
  if (response.getAttribute('Version') !== '2.0') throw xmlError('the response is not of SAML 2.0');
  checkAddress(response, 'Destination', expected.acs);
  const [issuer, another] = childrenNamed(response, 'assertion', 'Issuer');
  if (another || (issuer && elementText(issuer) !== expected.issuer))
    throw xmlError('the issuer of the response is not this provider');
  checkInResponseTo(response, expected.requestId, 'response');
  checkStatus(response);
  const assertion = onlyAssertion(response);
  checkSignatureShapes(response, (element) => element === response || element === assertion);
  const encrypted = !is(assertion, 'assertion', 'Assertion');
  if (!encrypted) requireSignature(assertion);
  refuseForeignSignatures(response, expected.certificates);
  refuseChangedElements(response);
  if (encrypted) return decryptedAssertion(assertion, expected);
  if (expected.encryptedAssertions) throw xmlError('the assertion is not encrypted');
  return assertion;
}

/** A signature of the response alone does not suffice: the library verifies the assertion, and only that is read. */
function requireSignature(assertion: XmlElement): void {
  if (childrenNamed(assertion, 'signature', 'Signature').length !== 1)
    throw xmlError('the assertion is not signed by this provider');
}

/** An element with this attribute is only for its address. */
export function checkAddress(element: XmlElement, name: 'Destination' | 'Recipient', address: string): void {
  if (element.hasAttribute(name) && element.getAttribute(name) !== address)
    throw xmlError(`the ${name.toLowerCase()} is another address than this one`);
}

export function checkInResponseTo(element: XmlElement, requestId: string | undefined, what: string): void {
  const claims = element.hasAttribute('InResponseTo') ? element.getAttribute('InResponseTo') : undefined;
  if (claims === requestId) return;
  if (requestId === undefined) throw new FederationError('foreign', `${what} responds to an unknown request`);
  throw xmlError(`the ${what} does not answer the request of this attempt`);
}

const prefix = 'urn:oasis:names:tc:SAML:2.0:status:';
/** Statuses after a user cancelled there, or may not use this service. */
const refusedThere = new Set([`${prefix}AuthnFailed`, `${prefix}RequestDenied`]);

function checkStatus(response: XmlElement): void {
  const code = requireOne(requireOne(response, 'protocol', 'Status'), 'protocol', 'StatusCode');
  if (code.getAttribute('Value') === `${prefix}Success`) return;
  const [more] = childrenNamed(code, 'protocol', 'StatusCode');
  const values = [code, ...(more ? [more] : [])].map((one) => one.getAttribute('Value') ?? '');
  if (values.some((value) => refusedThere.has(value)))
    throw new FederationError('cancelled', 'provider reported no sign-in');
  throw new FederationError('provider-error', 'provider reported a failure');
}

/** Wherever it is hidden, another assertion could be mistaken for the signed one (signature wrapping). */
function onlyAssertion(response: XmlElement): XmlElement {
  const found = everyElement(response).filter(({ localName }) =>
    ['Assertion', 'EncryptedAssertion'].includes(localName ?? ''),
  );
  const [assertion] = found;
  if (!assertion) throw xmlError('the response has no assertion');
  if (found.length > 1) throw xmlError('the response has more than one assertion');
  const named = is(assertion, 'assertion', 'Assertion') || is(assertion, 'assertion', 'EncryptedAssertion');
  if (!named || assertion.parentNode !== response) throw xmlError('the assertion does not stand in the response');
  return assertion;
}

/**
 * Encryption proves nothing about the sender: the certificate is public. A text that cannot be decrypted, or is no
 * signed assertion, is refused after the same checks of another assertion, so that the time of an answer tells nothing about its content.
 */
function decryptedAssertion(encrypted: XmlElement, expected: ExpectedResponse): XmlElement {
  const { key, encryptedAssertions, audience: recipient, certificates } = expected;
  if (key === undefined || !encryptedAssertions)
    throw xmlError('the assertion is encrypted, and this is not configured');
  const text = decryptedText(encrypted, 'assertion', { key, recipient });
  let why: unknown = undecipherable('assertion');
  let assertion: XmlElement | undefined;
  try {
    if (text !== undefined) assertion = requireAssertion(parseXml(text));
  } catch (error) {
    why = error;
  }
  if (!assertion) throw refusedAsLate(why, decoyAssertion(encrypted.textContent?.length ?? 0), certificates);
  refuseForeignSignatures(assertion, certificates);
  refuseChangedElements(assertion);
  return assertion;
}

function requireAssertion(assertion: XmlElement): XmlElement {
  if (!is(assertion, 'assertion', 'Assertion')) throw xmlError('what is encrypted is no assertion');
  onlyOneIn(assertion);
  checkSignatureShapes(assertion, (element) => element === assertion);
  requireSignature(assertion);
  return assertion;
}

/** Takes the time of an assertion that was changed after it was signed. @returns why */
function refusedAsLate(why: unknown, decoy: string, certificates: readonly string[]): unknown {
  const assertion = requireAssertion(parseXml(decoy));
  for (const check of [
    () => refuseForeignSignatures(assertion, certificates),
    () => refuseChangedElements(assertion),
  ]) {
    try {
      check();
    } catch {
      // Expected: it has no valid signature.
    }
  }
  return why;
}

function onlyOneIn(assertion: XmlElement): void {
  const found = everyElement(assertion).filter(({ localName }) => localName === 'Assertion');
  if (found.length > 1) throw xmlError('the response has more than one assertion');
}

/** Checks that a time is between two others, within the tolerance. @param what name in the log */
export function checkPeriod(
  element: XmlElement,
  { nowMs, toleranceMs }: Pick<ExpectedResponse, 'nowMs' | 'toleranceMs'>,
  what: string,
): number | undefined {
  const [from, to] = [readTime(element, 'NotBefore'), readTime(element, 'NotOnOrAfter')];
  if (from !== undefined && nowMs + toleranceMs < from) throw xmlError(`${what} is not valid yet`);
  if (to !== undefined && nowMs - toleranceMs >= to) throw xmlError(`${what} has expired`);
  return to;
}
