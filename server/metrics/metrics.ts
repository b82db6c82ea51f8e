/** By what somebody signs in: what they know or have, or the kind of provider that vouches for them. */
export type SignInMethod =
  | 'password'
  | 'passkey'
  | 'totp'
  | 'sms'
  | 'recovery'
  | 'google'
  | 'facebook'
  | 'amazon'
  | 'oidc'
  | 'saml';

/**
 * What the rooms report to the operator. They know this interface alone; `prometheus.ts` keeps it. Every label has few
 * values that are known beforehand: never a member, a client app's id, an address or a path.
 */
export interface Metrics {
  /** False: nobody reads, so what is only done to measure need not be done. */
  readonly on: boolean;
  /** @param result the word that the log's line has too: `signed-in`, `wrong-password`, … */
  signIn(method: SignInMethod, result: string): void;
  /** @param result the word that the log's line has too: `begun`, `wrong`, … */
  signUp(step: 'begin' | 'resend' | 'confirm', result: string): void;
  guessRefused(limit: GuessLimit): void;
  /** @param read the bytes that rows of visitors take in the key-value store, and the most that they may */
  visitorData(read: () => Promise<{ bytes: number; maxBytes: number }>): void;
  /** A visitor was refused: the store is full of visitors' rows, or the address has had its share. */
  visitorRefused(reason: 'store-full' | 'share'): void;
  /** A limit of all visitors together is full: once a window. @param limit its name, as in the log */
  overallReached(limit: string): void;
  /** A password that was not checked, because too many wait or its turn did not come in time. */
  passwordRefused(reason: 'full' | 'timeout' | 'share'): void;
  /** How long a password waited for its turn and was hashed. */
  passwordHashed(durationMs: number): void;
  /** @param read how many are hashed and how many wait at this moment */
  passwordQueue(read: () => { running: number; waiting: number }): void;
  sessionStarted(): void;
  /** Those that run out are not seen. */
  sessionEnded(cause: 'sign-out' | 'replaced' | 'revoked' | 'limit', count?: number): void;
  issued(kind: IssuedKind, clientType: ClientType): void;
  /** A code or refresh token came a second time, which proves that it leaked (RFC 9700, sections 2.1.1 and 4.14.2). */
  reused(kind: 'authorization_code' | 'refresh_token'): void;
  /** @param keys those that sign at this moment; `activatesAt` in milliseconds since the epoch */
  signingKeys(keys: readonly { alg: string; activatesAt: number }[]): void;
  /** @param template a name of the product's or of the operator's list */
  messageAdded(channel: MessageChannel, template: string): void;
  /** One attempt to deliver a message. */
  messageTried(attempt: MessageAttempt): void;
  /** What waits in the outbox; told by the process that delivers. `oldestMs`: for how long the oldest has waited. */
  messagesWaiting(count: number, oldestMs: number): void;
  /** @param type one that Foyer knows, else `other`; @param outcome the word that the log's line has too */
  webhook(type: string, outcome: string): void;
  /** An order was written: a paid invoice. */
  ordered(kind: 'upgrade' | 'renewal'): void;
  /** Memberships were compared with Stripe: what was made equal, and what somebody must look at. */
  reconciled(repaired: number, left: number): void;
  httpRequest(request: HttpRequest): void;
  storeAnswered(answer: StoreOperation): void;
}

export type GuessLimit = 'account' | 'device' | 'address' | 'overall';
export type IssuedKind = 'authorization_code' | 'access_token' | 'refresh_token' | 'id_token';
export type ClientType = 'public' | 'confidential';

export type MessageChannel = 'mail' | 'sms' | 'notification' | 'logout-token';

export interface MessageAttempt {
  channel: MessageChannel;
  template: string;
  /** `failed`: it will be tried again; `dead`: it has been given up. */
  result: 'delivered' | 'failed' | 'dead';
  durationMs: number;
}

export interface HttpRequest {
  method: string;
  /** The pattern, as in `/oauth2/authorize/:uid`. */
  route: string;
  /** Undefined when the visitor went away before the answer was complete. */
  status: number | undefined;
  durationMs: number;
}

export interface StoreOperation {
  store: 'database' | 'key-value';
  operation: string;
  durationMs: number;
  /** `away`: StoreUnavailable, which members see as 503; `refused`: any other error (a unique address taken, say). */
  outcome: 'answered' | 'away' | 'refused';
}

const nothing = () => {};

/** While METRICS_PORT is not set. */
export const noMetrics: Metrics = {
  on: false,
  signIn: nothing,
  signUp: nothing,
  guessRefused: nothing,
  visitorData: nothing,
  visitorRefused: nothing,
  overallReached: nothing,
  passwordRefused: nothing,
  passwordHashed: nothing,
  passwordQueue: nothing,
  sessionStarted: nothing,
  sessionEnded: nothing,
  issued: nothing,
  reused: nothing,
  signingKeys: nothing,
  messageAdded: nothing,
  messageTried: nothing,
  messagesWaiting: nothing,
  webhook: nothing,
  ordered: nothing,
  reconciled: nothing,
  httpRequest: nothing,
  storeAnswered: nothing,
};
