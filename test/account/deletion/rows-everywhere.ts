import type { User } from '../../../server/users/index.ts';
import type { TestFoyer } from '../../support/foyer.ts';
import {
  toClientId,
  toE164,
  toNormalisedEmail,
  toProviderId,
  toSealedText,
  toSessionIdHash,
  toSha256,
} from '../../support/ids.ts';
import { listBillingRows, type Rows } from './billing-rows.ts';
import { dayMs, marks } from './steps.ts';

/** Rows of a user: their profile, consents and second factors. */
function listProfileRows({ id, email }: User, at: number): Rows {
  const { ip, userAgent, secret } = marks;
  return {
    userRecords: {
      id: `record-${id}`,
      userId: id,
      stripeCustomerId: null,
      about: 'Restores chairs',
      status: 'active',
      additionalAttributes: '{"a":1}',
      imageName: null,
      notificationSetting: '{}',
      socialMediaLinks: '{}',
      totalRewards: '5',
      companyCategory: null,
      userType: null,
      createdAt: at,
      updatedAt: at,
    },
    termsAcceptances: {
      id: `terms-${id}`,
      userId: id,
      version: 1,
      label: '1.0.0',
      lang: 'en',
      textHash: toSha256('hash'),
      ip,
      userAgent,
      clientId: toClientId('some-client'),
      acceptedAt: at,
    },
    uploadedPictures: { userId: id, name: `picture-${id}`, type: 'image/png', content: 'iVBORw0KGgo=', createdAt: at },
    partnerDeals: { email, tier: 2, importedAt: at, userId: id, usedAt: at },
    totpAuthenticators: { userId: id, sealedSecret: toSealedText(secret), lastStep: 1, createdAt: at },
    recoveryCodes: { id: `code-${id}`, userId: id, codeHash: toSha256(secret), createdAt: at, usedAt: null },
    rememberedDevices: {
      id: `device-${id}`,
      userId: id,
      secretHash: toSha256(secret),
      passwordEpoch: 0,
      userAgent,
      ip,
      createdAt: at,
      lastUsedAt: at,
      expiresAt: at + dayMs,
    },
  };
}

/** Rows of a user: their sign-in methods and addresses. */
function listAccountRows({ id, email }: User, at: number): Rows {
  const { ip, userAgent, secret, old } = marks;
  return {
    factorResets: {
      id: `reset-${id}`,
      userId: id,
      tokenHash: toSha256(secret),
      state: 'cancelled',
      requestedAt: at,
      dueAt: at,
      endedAt: at,
    },
    passkeys: {
      id: `passkey-${id}`,
      userId: id,
      name: 'Marked MacBook',
      publicKey: secret,
      counter: 0,
      transports: 'internal',
      aaguid: 'a',
      backedUp: 1,
      createdAt: at,
      lastUsedAt: null,
    },
    federatedIdentities: {
      id: `link-${id}`,
      userId: id,
      kind: 'google',
      issuer: 'https://accounts.google.com',
      subject: `at-${id}`,
      provider: toProviderId('google'),
      email: toNormalisedEmail('marked@gmail.example'),
      name: 'Marked Name',
      linkedAt: at,
      lastUsedAt: null,
    },
    emailChanges: {
      id: `change-${id}`,
      userId: id,
      oldEmail: toNormalisedEmail(`${id}-${old}`),
      newEmail: email,
      undoHash: toSha256(secret),
      changedAt: at,
      undoUntil: at + dayMs,
      undoneAt: null,
    },
    notifications: {
      id: `note-${id}`,
      userId: id,
      title: 'Marked note',
      description: '',
      category: 'x',
      details: '{}',
      status: 'unread',
      security: 0,
      createdAt: at,
      updatedAt: at,
    },
    signUps: {
      id: `sign-up-${id}`,
      email,
      givenName: 'Marked',
      familyName: '',
      passwordHash: secret,
      zoneinfo: null,
      locale: 'en',
      source: 'general',
      planKey: null,
      identity: null,
      terms: JSON.stringify({
        version: 1,
        label: '1.0.0',
        lang: 'en',
        textHash: 'hash',
        clientId: null,
        ip,
        userAgent,
      }),
      errand: '',
      state: 'confirmed',
      userId: id,
      createdAt: at,
      updatedAt: at,
      expiresAt: at + 30 * dayMs,
    },
  };
}

/** Rows of a user: their client apps. */
function listClientRows({ id }: User, at: number): Rows {
  const { secret } = marks;
  return {
    clientSessions: {
      sid: `sid-${id}`,
      foyerSession: toSessionIdHash(`session-${id}`),
      clientId: toClientId('some-client'),
      accountId: id,
      createdAt: at,
      expiresAt: at + 30 * dayMs,
    },
    connectedApps: {
      userId: id,
      clientId: toClientId('some-client'),
      scopes: 'openid email',
      resources: '{}',
      createdAt: at,
      lastUsedAt: at,
    },
    oidc: {
      model: 'Grant',
      idHash: toSha256(`grant-${id}`),
      payload: toSealedText(secret),
      grantId: null,
      clientId: toClientId('some-client'),
      accountId: id,
      foyerSession: null,
      offline: 1,
      consumedAt: null,
      expiresAt: at + 30 * dayMs,
    },
  };
}

const toDatabaseName = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/**
 * Stores something of a user in every table that holds anything of users.
 * @returns the tables, as the database names them
 */
export async function rowsEverywhere(foyer: TestFoyer, user: User): Promise<Set<string>> {
  const { database, outbox, now } = foyer.deps;
  const { id, email } = user;
  const at = now();
  const rows: Rows = {
    ...listProfileRows(user, at),
    ...listAccountRows(user, at),
    ...listBillingRows(user, at),
    ...listClientRows(user, at),
  };
  await database.transaction(async (trx) => {
    for (const [table, row] of Object.entries(rows))
      await trx
        .insertInto(table as 'meta')
        .values(row as never)
        .execute();
    // A refresh token hangs on its grant alone.
    await trx
      .insertInto('oidc')
      .values({
        model: 'RefreshToken',
        idHash: toSha256(`refresh-${id}`),
        payload: toSealedText(marks.secret),
        grantId: toSha256(`grant-${id}`),
        offline: 0,
        expiresAt: at + 30 * dayMs,
      })
      .execute();
    const later = { groupId: `held-${id}` };
    const values = { givenName: 'Marked', atMs: at };
    await outbox.add(trx, { channel: 'mail', to: email, template: 'password-changed', lang: 'en', values, ...later });
    await outbox.add(trx, { channel: 'sms', to: toE164(user.phone ?? ''), text: 'A marked text', ...later });
    const note = { title: 'Marked', description: 'Marked', category: 'x' };
    await outbox.add(trx, { channel: 'notification', userId: id, ...note, ...later });
  });
  return new Set([...Object.keys(rows).map(toDatabaseName), 'users', 'outbox']);
}
