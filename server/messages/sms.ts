import type { Transaction } from 'kysely';
import { consumeLimits, type RateLimits } from '../rate-limits/index.ts';
import type { KeyedDigest } from '../shared/index.ts';
import type { KeyValueStore, Schema } from '../store/index.ts';
import type { Outbox } from './outbox.ts';
import { classifyNumber } from './sms-number.ts';

/** Text messages cost money, and whoever makes a house send many of them may earn it (SMS pumping). */
export type SmsLimits = Pick<RateLimits, 'sms' | 'confirmedNumberSms'>;

export interface SmsMessage {
  /** E.164. */
  to: string;
  text: string;
  /** Who gets it, or asks for it: a member's id. */
  member: string;
  /** Of whoever asks. */
  ip: string;
  /** The member has shown before that the number is theirs. */
  proven?: boolean;
  /** Asked for in a browser that the member has signed in with before. */
  fromKnownDevice?: boolean;
  /** Not delivered after this moment (milliseconds since the epoch): a code that is void by then, say. */
  expiresAtMs?: number;
  /** Messages of one group arrive in the order in which they were written: the newest code last. */
  groupId?: string;
}

/** `country`: no message is sent to such a number, whoever asks. */
export type SmsRefusal = 'country' | 'member' | 'number' | 'network' | 'overall';

export type SendSmsResult = { sent: true } | { sent: false; why: SmsRefusal; retryAfterMs?: number };

export interface SmsSender {
  /**
   * Counts a message at every limit, and only then writes it into the outbox. The caller wakes the outbox after the commit.
   * A message that is refused was counted nowhere.
   */
  send(trx: Transaction<Schema>, message: SmsMessage): Promise<SendSmsResult>;
  /** Whether messages are sent to this number at all; nothing is counted. */
  canReceiveSms(number: string): Promise<boolean>;
}

export interface TextMessagesSettings {
  kv: KeyValueStore;
  outbox: Outbox;
  limits: SmsLimits;
  /** Numbers are counted under it. */
  digest: KeyedDigest;
  /** ISO 3166-1 alpha-2, upper case; undefined: all. */
  countries?: readonly string[] | undefined;
}

/** The words of a refusal, by the scope of the limit. */
const refusals = { account: 'member', number: 'number', address: 'network', overall: 'overall' } as const;

/**
 * Whose share of a day it is. Apart, so that strangers who claim a member's number, or have a member's password, do not use up
 * the codes which that member signs in by.
 */
const toLimitBucket = ({ proven = false, fromKnownDevice = false }: SmsMessage) =>
  proven ? (fromKnownDevice ? 'known:' : 'proven:') : '';

export function createSmsSender({ kv, outbox, limits, countries, digest }: TextMessagesSettings): SmsSender {
  const allowed = countries && new Set(countries);

  async function canReceiveSms(number: string): Promise<boolean> {
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
      await outbox.add(trx, {
        channel: 'sms',
        to,
        text,
        ...(expiresAtMs !== undefined && { expiresAtMs }),
        ...(groupId !== undefined && { groupId }),
      });
      return { sent: true };
    },
  };
}
