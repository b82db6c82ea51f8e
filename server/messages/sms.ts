import type { Transaction } from 'kysely';
import { consumeLimits, type RateLimits } from '../http/index.ts';
import type { E164, KeyedDigest } from '../shared/index.ts';
import type { KeyValueStore, Schema } from '../store/index.ts';
import type { Outbox } from './outbox.ts';
import { classifyNumber } from './sms-number.ts';

/** Text messages cost money, and an attacker may earn a part of it (SMS pumping). */
type SmsLimits = Pick<RateLimits, 'sms' | 'confirmedNumberSms'>;

interface SmsMessage {
  to: E164;
  text: string;
  /** The id of the user who receives it, or requests it. */
  member: string;
  /** Address of the requester. */
  ip: string;
  /** The user has proven the number before. */
  proven?: boolean;
  /** Requested in a browser from which the user has signed in before. */
  fromKnownDevice?: boolean;
  /** Not delivered after this time (milliseconds since the epoch), for example when its code has expired. */
  expiresAtMs?: number;
  /** Messages of one group arrive in the order of their creation: the newest code last. */
  groupId?: string;
}

/** `country`: messages to such numbers are never sent. */
export type SmsRefusal = 'country' | 'member' | 'number' | 'network' | 'overall';

type SendSmsResult = { sent: true } | { sent: false; why: SmsRefusal; retryAfterMs?: number };

export interface SmsSender {
  /**
   * Counts a message at every limit, and only then writes it into the outbox. The caller wakes the outbox after the
   * commit. A refused message is not counted.
   */
  send(trx: Transaction<Schema>, message: SmsMessage): Promise<SendSmsResult>;
  /** Tests whether this number can receive messages; counts nothing. */
  canReceiveSms(number: E164): Promise<boolean>;
}

interface TextMessagesSettings {
  kv: KeyValueStore;
  outbox: Outbox;
  limits: SmsLimits;
  /** Key of the counters of numbers. */
  digest: KeyedDigest;
  /** ISO 3166-1 alpha-2, upper case; undefined: all. */
  countries?: readonly string[] | undefined;
}

/** The kinds of refusal, by the scope of the limit. */
const refusals = { account: 'member', number: 'number', address: 'network', overall: 'overall' } as const;

/**
 * The bucket of the daily limit. Separate buckets, so that strangers who claim a user's number, or know a user's
 * password, cannot use up the codes of that user's own sign-ins.
 */
const toLimitBucket = ({ proven = false, fromKnownDevice = false }: SmsMessage) =>
  proven ? (fromKnownDevice ? 'known:' : 'proven:') : '';

export function createSmsSender({ kv, outbox, limits, countries, digest }: TextMessagesSettings): SmsSender {
  const allowed = countries && new Set(countries);

  async function canReceiveSms(number: E164): Promise<boolean> {
    const found = await classifyNumber(number);
    return found.kind === 'textable' && (allowed === undefined || allowed.has(found.country));
  }

  return {
    canReceiveSms,
    async send(trx, message) {
      const { to, text, member, ip, proven = false, expiresAtMs, groupId } = message;
      if (!(await canReceiveSms(to))) return { sent: false, why: 'country' };
      const share = toLimitBucket(message);
      const decision = await consumeLimits(kv, proven ? limits.confirmedNumberSms : limits.sms, {
        account: `${share}${member}`,
        number: `${share}${digest(to)}`,
        address: ip,
      });
      if (!decision.allowed) {
        return { sent: false, why: refusals[decision.limit], retryAfterMs: decision.retryAfterMs };
      }
      await outbox.add(trx, { channel: 'sms', to, text, expiresAtMs, groupId });
      return { sent: true };
    },
  };
}
