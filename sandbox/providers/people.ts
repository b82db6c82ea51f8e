import { createHash } from 'node:crypto';

export const standInKinds = ['google', 'facebook', 'amazon', 'oidc', 'saml'] as const;
export type StandInKind = (typeof standInKinds)[number];

/** Somebody with an account at the providers. */
export interface Person {
  givenName: string;
  familyName: string;
  /** Absent: the provider gives none. */
  email?: string | undefined;
  /** Whether the provider says that it is theirs; Facebook keeps others to itself, and Amazon says nothing about it. */
  emailVerified: boolean;
  picture?: string | undefined;
  /** What the provider calls them; made of the address (or the name) where it is not given. */
  subject?: string | undefined;
}

export const toFullName = ({ givenName, familyName }: Person): string => `${givenName} ${familyName}`.trim();

/** @param number of digits */
const toDigits = (hash: Buffer, number: number) =>
  (BigInt(`0x${hash.toString('hex')}`) % 10n ** BigInt(number - 1)).toString();

/** What the provider calls the person, always the same, in the form that each has. */
export function toSubject(kind: StandInKind, person: Person): string {
  if (person.subject !== undefined) return person.subject;
  const hash = createHash('sha256')
    .update(`${kind} ${person.email?.toLowerCase() ?? toFullName(person)}`)
    .digest();
  switch (kind) {
    case 'google':
      return `1${toDigits(hash, 21).padStart(20, '0')}`;
    case 'facebook':
      return `1${toDigits(hash, 17).padStart(16, '0')}`;
    case 'amazon':
      return `amzn1.account.${hash.toString('hex').toUpperCase().slice(0, 28)}`;
    case 'oidc':
      return hash.toString('hex').slice(0, 32);
    case 'saml':
      return `_${hash.toString('hex').slice(0, 40)}`;
  }
}

/** Where the companies' addresses begin. */
export const oidcPath = '/acme-oidc';
export const samlPath = '/acme-saml';

/** The domains of which the sandbox's company providers speak with authority. */
export const companyDomains = { oidc: 'acme.example', saml: 'corp.acme.example' } as const;

const accounts = [
  { givenName: 'Ada', familyName: 'Lovelace', account: 'ada', emailVerified: true },
  { givenName: 'Vera', familyName: 'Lindqvist', account: 'vera', emailVerified: true },
  { givenName: 'Grace', familyName: 'Hopper', account: 'grace', emailVerified: false },
  { givenName: 'Joan', familyName: 'Clarke', account: undefined, emailVerified: false },
];

/**
 * Who has an account there: somebody new, somebody with the demo member's address (at the companies: another), somebody
 * whose address the provider does not vouch for (by SAML: one outside of the company), and somebody without one.
 */
export function listPeople(kind: StandInKind): Person[] {
  const domain = kind === 'oidc' || kind === 'saml' ? companyDomains[kind] : 'example.com';
  return accounts.map(({ account, ...person }) => ({
    ...person,
    ...(account !== undefined && {
      email: `${account}@${kind === 'saml' && !person.emailVerified ? 'elsewhere.example' : domain}`,
    }),
  }));
}
