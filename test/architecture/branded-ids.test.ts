import type { Request } from 'express';
import type { PendingContactChanges } from '../../server/account/contact/pending-contact-changes.ts';
import type { Catalogue } from '../../server/billing/index.ts';
import { findOrderByInvoice } from '../../server/billing/orders/order-store.ts';
import {
  findMembershipByCustomer,
  findMembershipBySubscription,
} from '../../server/billing/subscription/membership-store.ts';
import type { FederationAttempts } from '../../server/federation/attempts.ts';
import type { Providers } from '../../server/federation/providers.ts';
import type { SmsSender } from '../../server/messages/index.ts';
import type { BackchannelLogouts } from '../../server/oidc/backchannel-logouts.ts';
import { deleteConnectedApp } from '../../server/oidc/connected-app-store.ts';
import type { GrantStore } from '../../server/oidc/grant-store.ts';
import type { Sessions } from '../../server/sessions/index.ts';
import { sessionIdHash, sessionKey } from '../../server/sessions/session.ts';
import { endSessions } from '../../server/sessions/user-sessions.ts';
import { sha256 } from '../../server/shared/index.ts';
import type { BrowserRecords, SecretBox } from '../../server/store/index.ts';
import { changeEmail, claimPartnerDeal, findUserByIdentifier, setPhone, type User } from '../../server/users/index.ts';
import {
  type ClientId,
  type E164,
  type FlowId,
  type NormalisedEmail,
  type PlanId,
  type PlanKey,
  type ProviderId,
  type SealedText,
  type SessionId,
  type SessionIdHash,
  type Sha256,
  type StripeCustomerId,
  type StripeInvoiceId,
  type StripeSubscriptionId,
  toUserId,
  type UserId,
} from '../support/ids.ts';
import { listSources, readSource } from './parsed-source.ts';

interface Values {
  clientId: ClientId;
  userId: UserId;
  session: SessionIdHash;
  sessionId: SessionId;
  hash: Sha256;
  sealed: SealedText;
  plain: string;
  planId: PlanId;
  planKey: PlanKey;
  flow: FlowId;
  provider: ProviderId;
  email: NormalisedEmail;
  phone: E164;
  customer: StripeCustomerId;
  subscription: StripeSubscriptionId;
  invoice: StripeInvoiceId;
}

type EndDeps = Parameters<typeof endSessions>[0];
type Trx = Parameters<BackchannelLogouts['moved']>[0];

/**
 * Calls with swapped arguments. Nothing runs them: the compiler checks them, and an expected error that is missing fails the
 * type check of the tests.
 */
const swapped = {
  endSessions: (deps: EndDeps, { userId, session, sessionId, hash, plain }: Values) => [
    endSessions(deps, userId, [session]),
    // @ts-expect-error: the hash of a session is no user
    endSessions(deps, session, [session]),
    // @ts-expect-error: a user is no session
    endSessions(deps, userId, [userId]),
    // @ts-expect-error: the secret of a session is not its name in the stores
    endSessions(deps, userId, [sessionId]),
    // @ts-expect-error: another hash is not the hash of a session
    endSessions(deps, userId, [hash]),
    // @ts-expect-error: any text
    endSessions(deps, userId, [plain]),
  ],
  sessions: (sessions: Sessions, { userId, session, clientId }: Values) => [
    sessions.endSession(userId, session),
    // @ts-expect-error: swapped
    sessions.endSession(session, userId),
    // @ts-expect-error: a client app has no sessions of its own
    sessions.endAll(clientId),
    // @ts-expect-error: swapped
    sessions.endOtherSessions(session, userId),
  ],
  sessionNames: ({ session, sessionId }: Values) => [
    sessionKey(sessionIdHash(sessionId)),
    // @ts-expect-error: the secret would become a key of the store
    sessionKey(sessionId),
    // @ts-expect-error: a hash of a hash
    sessionIdHash(session),
  ],
  grants: (grants: GrantStore, trx: Trx, { userId, clientId, session, hash }: Values) => [
    grants.findOfSession({ foyerSession: session, offline: false }, clientId),
    // @ts-expect-error: a user is no client app
    grants.findOfSession({ foyerSession: session, offline: false }, userId),
    // @ts-expect-error: the hash of another id is no session
    grants.findOfSession({ foyerSession: hash, offline: false }, clientId),
    grants.revokeOfMember(trx, userId, clientId),
    // @ts-expect-error: swapped
    grants.revokeOfMember(trx, clientId, userId),
    // @ts-expect-error: every grant of a client app would end instead of one user's
    grants.revokeOfClient(userId),
    // @ts-expect-error: swapped
    grants.count({ accountId: clientId }),
    // @ts-expect-error: swapped
    deleteConnectedApp(trx, clientId, userId),
  ],
  plans: (catalogue: Pick<Catalogue, 'byId' | 'byKey'>, { planId, planKey, userId }: Values) => [
    catalogue.byId(planId),
    catalogue.byKey(planKey),
    // @ts-expect-error: the public handle of a plan is not its id
    catalogue.byId(planKey),
    // @ts-expect-error: the id of a plan is not its public handle
    catalogue.byKey(planId),
    // @ts-expect-error: a user is no plan
    catalogue.byId(userId),
  ],
  stripe: (trx: Trx, { customer, subscription, invoice }: Values) => [
    findMembershipByCustomer(trx, customer),
    findMembershipBySubscription(trx, subscription),
    findOrderByInvoice(trx, invoice),
    // @ts-expect-error: swapped
    findMembershipByCustomer(trx, subscription),
    // @ts-expect-error: swapped
    findMembershipBySubscription(trx, customer),
    // @ts-expect-error: swapped
    findOrderByInvoice(trx, subscription),
  ],
  providers: (providers: Providers, sessions: Sessions, { provider, flow, plain }: Values) => [
    providers.byId(provider),
    providers.find(plain),
    sessions.endUpstreamSessions({ provider, nameId: plain, indexes: [] }),
    // @ts-expect-error: a text of a visitor is not known to name a provider
    providers.byId(plain),
    // @ts-expect-error: the id of an attempt is no provider
    providers.byId(flow),
    // @ts-expect-error: swapped
    sessions.endUpstreamSessions({ provider: plain, nameId: provider, indexes: [] }),
  ],
  attempts: (attempts: FederationAttempts, req: Request, { provider, flow }: Values) => [
    attempts.take(req, flow, provider),
    // @ts-expect-error: swapped
    attempts.take(req, provider, flow),
  ],
  emails: (trx: Trx, { user, userId, email, phone, plain }: Values & { user: User }) => [
    findUserByIdentifier(trx, { email }),
    changeEmail(trx, user, { email, undoHash: sha256(plain), undoUntil: 0, nowMs: 0 }),
    claimPartnerDeal(trx, email, { userId, nowMs: 0 }),
    // @ts-expect-error: a typed address is not normalised
    findUserByIdentifier(trx, { email: plain }),
    // @ts-expect-error: a number is no address
    findUserByIdentifier(trx, { email: phone }),
    // @ts-expect-error: a typed address is not normalised
    changeEmail(trx, user, { email: plain, undoHash: sha256(plain), undoUntil: 0, nowMs: 0 }),
    // @ts-expect-error: swapped
    claimPartnerDeal(trx, userId, { userId: email, nowMs: 0 }),
  ],
  phones: (trx: Trx, sms: SmsSender, { user, email, phone, plain }: Values & { user: User }) => [
    setPhone(trx, user, { phone, nowMs: 0 }),
    sms.canReceiveSms(phone),
    findUserByIdentifier(trx, { phone }),
    // @ts-expect-error: an address is no number
    setPhone(trx, user, { phone: email, nowMs: 0 }),
    // @ts-expect-error: a typed number is not normalised
    setPhone(trx, user, { phone: plain, nowMs: 0 }),
    // @ts-expect-error: a typed number is not normalised
    sms.canReceiveSms(plain),
    // @ts-expect-error: an address is no number
    findUserByIdentifier(trx, { phone: email }),
  ],
  contactChanges: (changes: PendingContactChanges, { user, email, phone, plain }: Values & { user: User }) => [
    changes.begin({ kind: 'email', to: email }, user),
    changes.begin({ kind: 'phone', to: phone }, user),
    // @ts-expect-error: swapped
    changes.begin({ kind: 'email', to: phone }, user),
    // @ts-expect-error: swapped
    changes.begin({ kind: 'phone', to: email }, user),
    // @ts-expect-error: a typed address is not normalised
    changes.begin({ kind: 'email', to: plain }, user),
  ],
  flows: (flows: BrowserRecords<string>, { flow, hash, plain }: Values) => [
    flows.find(flow),
    // @ts-expect-error: the hash of an id is not the id
    flows.find(hash),
    // @ts-expect-error: any text
    flows.consume(plain),
  ],
  sealed: (box: SecretBox, { sealed, plain, hash }: Values) => [
    box.open(sealed),
    // @ts-expect-error: plain text is not sealed
    box.open(plain),
    // @ts-expect-error: a hash is not sealed
    box.open(hash),
    // @ts-expect-error: what is sealed is not compared with a hash
    ((expected: Sha256) => expected)(sealed),
  ],
};

const brands =
  'Sha256|SealedText|SessionId|SessionIdHash|ClientId|UserId|PlanId|PlanKey|FlowId|ProviderId|NormalisedEmail|E164|Stripe\\w+Id';
/** A constructor that gets a value; an id that stands for none is empty. */
const constructed = new RegExp(`\\bto(?:${brands})\\((?!'')`);

/** They read one id of an address, a form or a cookie each. */
const readingHandlers = [
  'server/account/devices/devices-handlers.ts',
  'server/account/security/totp-enrolment-handlers.ts',
  'server/billing/checkout/partner-deal-handlers.ts',
  'server/federation/callback-handlers.ts',
  'server/oidc/plan-required-handlers.ts',
];

describe('Branded ids', () => {
  it('No operation of the JSON API and no other handler than those of the list constructs a branded id', () => {
    const files = listSources('server').filter((file) => /(?:handlers|operations?)\.ts$/.test(file));
    expect(files.filter((file) => constructed.test(readSource(file))).sort()).toEqual(readingHandlers);
  });

  it('Only the parsers construct a normalised address, a number or the id of a provider', () => {
    const files = listSources('server').filter((file) => file !== 'server/shared/ids.ts');
    const constructs = (file: string) => /\bto(?:NormalisedEmail|E164|ProviderId)\(/.test(readSource(file));
    expect(files.filter(constructs).sort()).toEqual([
      'server/federation/providers.ts',
      'server/federation/providers/endpoints.ts',
      'server/users/user.ts',
    ]);
  });

  it('The compiler refuses each call with swapped ids', () => {
    expect(Object.keys(swapped)).toEqual([
      'endSessions',
      'sessions',
      'sessionNames',
      'grants',
      'plans',
      'stripe',
      'providers',
      'attempts',
      'emails',
      'phones',
      'contactChanges',
      'flows',
      'sealed',
    ]);
  });

  it('A branded id is the same text at run time', () => {
    expect(toUserId('0190')).toBe('0190');
  });
});
