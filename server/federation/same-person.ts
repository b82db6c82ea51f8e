import type { NormalisedEmail } from '../shared/index.ts';
import type { User } from '../users/index.ts';
import { type UpstreamIdentity, wholeName } from './identity.ts';
import type { FederatedIdentity } from './identity-store.ts';

const plain = (text: string) => text.normalize('NFKC').toLowerCase().replace(/\s+/g, ' ').trim();

/**
 * Facts about a person that do not follow from the subject: the new owner of the user name `ada` also gets
 * `ada@corp.example`, and some providers use the user name as the name.
 */
function factsBeside({
  subject,
  email,
  ...names
}: Pick<UpstreamIdentity, 'subject' | 'email' | 'givenName' | 'familyName'>): {
  email: NormalisedEmail | undefined;
  name: string | undefined;
} {
  const [user, name] = [plain(subject), plain(wholeName(names))];
  const follows = email === undefined || email === user || email.slice(0, email.lastIndexOf('@')) === user;
  return { email: follows ? undefined : email, name: name === '' || name === user ? undefined : name };
}

/**
 * Tests whether a linked subject still belongs to the same person. A subject that the provider can reassign proves it
 * only together with an unchanged address or name.
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
