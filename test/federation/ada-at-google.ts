import type { UpstreamIdentity } from '../../server/federation/identity.ts';
import { toNormalisedEmail, toProviderId } from '../support/ids.ts';

/** An identity that is enough to create a user. */
export const adaAtGoogle: UpstreamIdentity = {
  provider: toProviderId('google'),
  kind: 'google',
  issuer: 'https://accounts.google.com',
  subject: '1',
  email: toNormalisedEmail('ada@example.com'),
  emailVerified: true,
  givenName: 'Ada',
  familyName: 'Lovelace',
  picture: undefined,
  session: { provider: toProviderId('google') },
};
