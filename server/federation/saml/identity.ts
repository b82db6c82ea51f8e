import type { SamlProviderConfig } from '../../../config/providers.ts';
import { type SamlAttribute, samlAttributes } from '../../../config/saml-attributes.ts';
import { FederationError, type UpstreamIdentity } from '../identity.ts';
import { isOfDomain, toEmail, toNames, toPictureUrl, toSubject } from '../providers/profile-claims.ts';
import type { Assertion } from './assertion.ts';
import { exactName, xmlError } from './xml.ts';

const persistentFormat = 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent';
const formats = {
  transient: 'urn:oasis:names:tc:SAML:2.0:nameid-format:transient',
  email: 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress',
};

const usualNames = (field: SamlAttribute['field']): string[] =>
  samlAttributes.filter((one) => one.field === field).map(({ name }) => name);
const usual = {
  email: usualNames('email'),
  givenName: usualNames('givenName'),
  familyName: usualNames('familyName'),
  whole: usualNames('wholeName'),
};

/**
 * The identity in an assertion.
 * @throws {FederationError} not-set-up, if its name identifier changes with each sign-in
 */
export function samlToIdentity(config: SamlProviderConfig, assertion: Assertion): UpstreamIdentity {
  const { id, domains, verifiedEmails, attributes: mapped, entityId } = config;
  const { attributes, nameId, nameIdFormat } = assertion;
  const first = (names: readonly string[]) =>
    names
      .flatMap((name) => attributes.get(name) ?? [])
      .map((value) => value.trim())
      .find((value) => value !== '');
  const read = (name: keyof typeof mapped & keyof typeof usual) => {
    const own = mapped[name];
    return first(own === undefined ? usual[name] : [own]);
  };
  const email =
    toEmail(read('email')) ??
    (mapped.email === undefined && nameIdFormat === formats.email ? toEmail(nameId) : undefined);
  return {
    provider: id,
    kind: 'saml',
    issuer: entityId,
    subject: toSubject(subjectIn(config, assertion)),
    ...(!isPermanent(config, nameIdFormat) && { reusable: true as const }),
    email,
    emailVerified: verifiedEmails !== 'never' && isOfDomain(email, domains),
    ...toNames({ input: read('givenName'), family: read('familyName'), whole: first(usual.whole) }),
    picture: mapped.picture === undefined ? undefined : toPictureUrl(first([mapped.picture])),
    session: { provider: id, ...(config.logoutUrl !== undefined && { saml: toUpstreamSession(assertion) }) },
  };
}

/**
 * Tests whether a subject is permanent. The standard guarantees it only for persistent NameIDs (SAML 2.0 Core, section
 * 8.3.7); for an attribute or another format the operator is responsible.
 */
export const isPermanent = (
  { subject, permanentNameIdFormats }: Pick<SamlProviderConfig, 'subject' | 'permanentNameIdFormats'>,
  nameIdFormat: string | undefined,
): boolean =>
  subject !== undefined ||
  nameIdFormat === persistentFormat ||
  (nameIdFormat !== undefined && permanentNameIdFormats.includes(nameIdFormat));

function subjectIn({ subject }: SamlProviderConfig, { attributes, nameId, nameIdFormat }: Assertion): string {
  if (subject === undefined) {
    if (nameIdFormat === formats.transient)
      throw new FederationError('not-set-up', 'the NameID is transient, and no other subject is configured');
    return nameId;
  }
  const values = attributes.get(subject) ?? [];
  if (values.length !== 1) throw xmlError('the attribute that names the person does not have one value');
  return exactName(values[0] ?? '', 'the attribute that names the person');
}

const toUpstreamSession = ({ nameId, nameIdFormat, nameQualifier, spNameQualifier, sessionIndex }: Assertion) => ({
  nameId,
  nameIdFormat,
  ...(nameQualifier !== undefined && { nameQualifier }),
  ...(spNameQualifier !== undefined && { spNameQualifier }),
  ...(sessionIndex !== undefined && { sessionIndex }),
});
