import type { User } from '../users/index.ts';
import { type UpstreamIdentity, wholeName } from './identity.ts';
import type { FederatedIdentity } from './identity-store.ts';

const plain = (text: string) => text.normalize('NFKC').toLowerCase().replace(/\s+/g, ' ').trim();

/**
 * The facts about a person that do not follow from the subject: whoever gets the user name `ada` gets `ada@corp.example` with
 * it, and some providers give the user name for the name.
 */
function factsBeside({
  subject,
  email,
  ...names
}: Pick<UpstreamIdentity, 'subject' | 'email' | 'givenName' | 'familyName'>): {
  email: string | undefined;
  name: string | undefined;
} {
  const [user, name] = [plain(subject), plain(wholeName(names))];
  const follows = email === undefined || email === user || email.slice(0, email.lastIndexOf('@')) === user;
  return { email: follows ? undefined : email, name: name === '' || name === user ? undefined : name };
}

/**
 * Whether whoever comes with a linked subject is the person whom it was linked for. A subject that the provider may give to
 * another person proves that only together with an address or a name that is the same as before.
 */
export function isSamePerson(
  identity: UpstreamIdentity,
  link: Pick<FederatedIdentity, 'email' | 'name'>,
  user: Pick<User, 'email' | 'givenName' | 'familyName'>,
): boolean {
  if (!identity.reusable) return true;
  const { email, name } = factsBeside(identity);
  if (email !== undefined && (email === link.email || email === user.email)) return true;
  return name !== undefined && name === plain(link.name ?? wholeName(user));
}
