import { FederationError } from '../identity.ts';
import { readNameId, type SubjectName } from './name-id.ts';
import { checkAddress, checkInResponseTo, checkPeriod, type ExpectedResponse } from './response-checks.ts';
import { childrenNamed, elementText, is, parseXml, readTime, requireOne, type XmlElement, xmlError } from './xml.ts';

/** The content of a signed assertion, after the checks of audience and time. */
export interface Assertion extends SubjectName {
  id: string;
  /** It must not be accepted after this. Milliseconds since the epoch. */
  untilMs: number;
  sessionIndex: string | undefined;
  /** Time of the authentication. Milliseconds since the epoch. */
  shownAtMs: number;
  /** By name; values in their order, with the white space and the blank values that were signed. */
  attributes: Map<string, string[]>;
}

const bearer = 'urn:oasis:names:tc:SAML:2.0:cm:bearer';
/** Longer than the validity of any real assertion. */
const maxAgeMs = 15 * 60_000;

/**
 * Reads exactly the XML whose signature was verified: no other part of a message is trusted (SAML 2.0 Profiles, section
 * 4.1.4.3).
 * @throws {FederationError}
 */
export function readAssertion(signedXml: string, expected: ExpectedResponse): Assertion {
  const assertion = parseXml(signedXml);
  const checked = checkAssertion(assertion, expected);
  const subject = requireOne(assertion, 'assertion', 'Subject');
  return { ...checked, ...readNameId(subject, expected), attributes: readAttributes(assertion) };
}

/**
 * Checks an assertion, and leaves what it says of a person unread.
 * @throws {FederationError}
 */
export function checkAssertion(
  assertion: XmlElement,
  expected: ExpectedResponse,
): Omit<Assertion, keyof SubjectName | 'attributes'> {
  if (!is(assertion, 'assertion', 'Assertion')) throw xmlError('what is signed is no assertion');
  if (assertion.getAttribute('Version') !== '2.0') throw xmlError('the assertion is not of SAML 2.0');
  const id = assertion.getAttribute('ID') ?? '';
  if (id === '') throw xmlError('the assertion has no id');
  if (elementText(requireOne(assertion, 'assertion', 'Issuer')) !== expected.issuer)
    throw xmlError('the issuer of the assertion is not this provider');
  checkIssued(assertion, expected);
  const subject = requireOne(assertion, 'assertion', 'Subject');
  const untilMs = checkConfirmed(subject, expected);
  checkConditions(assertion, expected);
  return { id, untilMs, ...checkAuthenticated(assertion, expected) };
}

function checkIssued(assertion: XmlElement, { nowMs, toleranceMs }: ExpectedResponse): void {
  const issued = readTime(assertion, 'IssueInstant');
  if (issued === undefined) throw xmlError('the assertion does not say when it was issued');
  if (issued > nowMs + toleranceMs) throw xmlError('the assertion was issued in the future');
  if (issued < nowMs - maxAgeMs) throw xmlError('the assertion has expired: it was issued long ago');
}

/** Requires a valid bearer confirmation (SAML 2.0 Profiles, section 4.1.4.2). */
function checkConfirmed(subject: XmlElement, expected: ExpectedResponse): number {
  const bearers = childrenNamed(subject, 'assertion', 'SubjectConfirmation').filter(
    (one) => one.getAttribute('Method') === bearer,
  );
  let why: unknown = xmlError('the subject is not confirmed for a bearer');
  for (const confirmation of bearers) {
    try {
      const data = requireOne(confirmation, 'assertion', 'SubjectConfirmationData');
      if (!data.hasAttribute('Recipient')) throw xmlError('the confirmation of the subject has no recipient');
      checkAddress(data, 'Recipient', expected.acs);
      checkInResponseTo(data, expected.requestId, 'confirmation of the subject');
      const until = checkPeriod(data, expected, 'the confirmation of the subject');
      if (until === undefined) throw xmlError('the confirmation of the subject never ends');
      return until;
    } catch (error) {
      why = error;
    }
  }
  throw why;
}

function checkConditions(assertion: XmlElement, expected: ExpectedResponse): void {
  const conditions = requireOne(assertion, 'assertion', 'Conditions');
  checkPeriod(conditions, expected, 'the assertion');
  const restrictions = childrenNamed(conditions, 'assertion', 'AudienceRestriction');
  if (restrictions.length === 0) throw xmlError('the assertion is for no audience');
  for (const restriction of restrictions) {
    const audiences = childrenNamed(restriction, 'assertion', 'Audience').map(elementText);
    if (!audiences.includes(expected.audience)) throw xmlError('the assertion is for another audience');
  }
}

/** SessionIndex is the provider's name of its session, for a single logout. */
function checkAuthenticated(
  assertion: XmlElement,
  { nowMs, toleranceMs, freshSinceMs }: ExpectedResponse,
): Pick<Assertion, 'sessionIndex' | 'shownAtMs'> {
  const statements = childrenNamed(assertion, 'assertion', 'AuthnStatement');
  const [statement] = statements;
  if (!statement) throw xmlError('the assertion does not say that anybody signed in');
  let shownAtMs = nowMs;
  for (const one of statements) {
    const ends = readTime(one, 'SessionNotOnOrAfter');
    if (ends !== undefined && nowMs - toleranceMs >= ends) throw xmlError('the session at the provider has ended');
    const instant = readTime(one, 'AuthnInstant');
    if (instant === undefined) throw xmlError('the assertion does not say when the person signed in');
    if (freshSinceMs !== undefined && instant < freshSinceMs - toleranceMs)
      throw new FederationError('not-fresh', 'person was not reauthenticated');
    shownAtMs = Math.min(shownAtMs, instant);
  }
  return { sessionIndex: statement.getAttribute('SessionIndex') || undefined, shownAtMs };
}

function readAttributes(assertion: XmlElement): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const statement of childrenNamed(assertion, 'assertion', 'AttributeStatement')) {
    if (childrenNamed(statement, 'assertion', 'EncryptedAttribute').length > 0)
      throw xmlError('an attribute is encrypted, which is not supported: let the provider encrypt the assertion');
    for (const attribute of childrenNamed(statement, 'assertion', 'Attribute')) {
      const name = attribute.getAttribute('Name') ?? '';
      const values = childrenNamed(attribute, 'assertion', 'AttributeValue').map((value) => value.textContent ?? '');
      found.set(name, [...(found.get(name) ?? []), ...values]);
    }
  }
  return found;
}
