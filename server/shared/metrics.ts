/**
 * The interface for reports of the modules to the operator; `metrics/prometheus.ts` implements it. Every label has few
 * values, known beforehand: never a user, a client app's id, an address or a path.
 */
export interface Metrics {
  /** False: there is no reader, so work that only measures can be skipped. */
  readonly on: boolean;
  /**
   * @param method a credential (`password`, `passkey`, `totp`, `sms`, `recovery`), or the kind of provider
   * @param result the value in the log: `signed-in`, `wrong-password`, …
   */
  signIn(method: string, result: string): void;
  /** @param result the value in the log: `begun`, `wrong`, … */
  signUp(step: 'begin' | 'resend' | 'confirm', result: string): void;
  guessRefused(limit: GuessLimit): void;
  /** @param read the bytes of visitors' records in the key-value store, and their limit */
  visitorData(read: () => Promise<{ bytes: number; maxBytes: number }>): void;
  /** A visitor was refused: the store is full of visitors' records, or the address has used its share. */
  visitorRefused(reason: 'store-full' | 'share'): void;
  /** A request was refused because the process has too much to do. */
  requestRefused(importance: 'visit' | 'member' | 'begun', reason: 'requests' | 'delay' | 'passwords'): void;
  /** A limit for all visitors is reached: once a window. @param limit its name, as in the log */
  overallReached(limit: string): void;
  /** A password was not checked, because too many wait or its turn did not come in time. */
  passwordRefused(reason: 'full' | 'timeout' | 'share'): void;
  /** The time that a password waited and was hashed. */
  passwordHashed(durationMs: number): void;
  /** @param read the current numbers of running and waiting hashes */
  passwordQueue(read: () => { running: number; waiting: number }): void;
  sessionStarted(): void;
  /** Expired sessions are not counted. */
  sessionEnded(cause: 'sign-out' | 'replaced' | 'revoked' | 'limit', count?: number): void;
  issued(kind: IssuedKind, clientType: ClientType): void;
  /**
   * A code or refresh token was used a second time, which proves that it leaked (RFC 9700, sections 2.1.1 and 4.14.2).
   */
  reused(kind: 'authorization_code' | 'refresh_token'): void;
  /** The provider refused a request of a client app. @param error a word of the standards, or `other` */
  clientRefused(endpoint: string, error: string): void;
  /** @param keys the keys that sign now; `activatesAt` in milliseconds since the epoch */
  signingKeys(keys: readonly { alg: string; activatesAt: number }[]): void;
  /** @param template a name of the product's or of the operator's list */
  messageAdded(channel: MessageChannel, template: string): void;
  /** One attempt to deliver a message. */
  messageTried(attempt: MessageAttempt): void;
  /** The waiting messages of the outbox; the delivering process reports them. `oldestMs`: age of the oldest. */
  messagesWaiting(count: number, oldestMs: number): void;
  /** @param type one that Foyer knows, else `other`; @param outcome the value in the log */
  webhook(type: string, outcome: string): void;
  /** An order was written: a paid invoice. */
  ordered(kind: 'upgrade' | 'renewal'): void;
  /** Memberships were compared with Stripe: the number of repaired differences, and of those for the operator. */
  /** @param left undefined: another process goes on with the comparison */
  reconciled(repaired: number, left: number | undefined): void;
  httpRequest(request: HttpRequest): void;
  storeAnswered(answer: StoreOperation): void;
}

export type GuessLimit = 'account' | 'device' | 'address' | 'overall';
export type IssuedKind = 'authorization_code' | 'access_token' | 'refresh_token' | 'id_token';
export type ClientType = 'public' | 'confidential';

export type MessageChannel = 'mail' | 'sms' | 'notification' | 'logout-token';

interface MessageAttempt {
  channel: MessageChannel;
  template: string;
  /** `failed`: it will be tried again; `dead`: it has been given up. */
  result: 'delivered' | 'failed' | 'dead';
  durationMs: number;
}

interface HttpRequest {
  method: string;
  /** The pattern, as in `/oauth2/authorize/:uid`. */
  route: string;
  /** Undefined if the client disconnected before the answer was complete. */
  status: number | undefined;
  durationMs: number;
}

interface StoreOperation {
  store: 'database' | 'key-value';
  operation: string;
  durationMs: number;
  /**
   * `away`: StoreUnavailable, which users see as 503; `refused`: any other error (for example a unique address that
   * exists).
   */
  outcome: 'answered' | 'away' | 'refused';
}

const nothing = () => {};

/** Without METRICS_PORT. */
export const noMetrics: Metrics = {
  on: false,
  signIn: nothing,
  signUp: nothing,
  guessRefused: nothing,
  visitorData: nothing,
  visitorRefused: nothing,
  requestRefused: nothing,
  overallReached: nothing,
  passwordRefused: nothing,
  passwordHashed: nothing,
  passwordQueue: nothing,
  sessionStarted: nothing,
  sessionEnded: nothing,
  issued: nothing,
  reused: nothing,
  clientRefused: nothing,
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
